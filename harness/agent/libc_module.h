/* libc_module.h: what the parts of the module share: points, and the path of each descriptor that the module
 * saw opened. */
#ifndef RANKFAULT_AGENT_LIBC_MODULE_H
#define RANKFAULT_AGENT_LIBC_MODULE_H

#include "harness/agent/core_table.h"

void rf_remember_path(int fd, const char* path);
void rf_forget_path(int fd);
const char* rf_path_of(int fd); /* null if unknown; dup and inheritance are not followed */
int rf_is_file(int fd);         /* the number may be a socket by now: the module does not see fclose */

/* Returns the path of a descriptor if the core wants the operation; else null. */
const char* rf_wanted_path(uint16_t op, int fd);
/* Begins a point. 1: make the call; 0: errno is set to the value that an action gave. */
int rf_point_enter(struct rf_call*, uint16_t op, const char* path, uint64_t count, const void* where);
void rf_point_leave(struct rf_call*, int failed); /* errno says how */

#endif /* RANKFAULT_AGENT_LIBC_MODULE_H */
