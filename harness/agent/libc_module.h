/* libc_module.h: what the parts of the module share: points, and which path belongs to a descriptor, as far
 * as the module saw it opened. */
#ifndef RANKFAULT_AGENT_LIBC_MODULE_H
#define RANKFAULT_AGENT_LIBC_MODULE_H

#include "harness/agent/core_table.h"

void rf_remember_path(int fd, const char* path);
void rf_forget_path(int fd);
const char* rf_path_of(int fd); /* null when unknown; dup and inheritance are not followed */
int rf_is_file(int fd);         /* the number may have been given to a socket since: fclose is not seen */

/* The path of a descriptor whose operation somebody wants; null. */
const char* rf_wanted_path(uint16_t op, int fd);
/* Around a call: 1: make it; 0: errno is set to what an action wants in its place. */
int rf_point_enter(struct rf_call*, uint16_t op, const char* path, uint64_t count, const void* where);
void rf_point_leave(struct rf_call*, int failed); /* errno says how */

#endif /* RANKFAULT_AGENT_LIBC_MODULE_H */
