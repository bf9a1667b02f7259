/* libc_module.h: which path belongs to a descriptor, as far as the module saw it opened. */
#ifndef RANKFAULT_AGENT_LIBC_MODULE_H
#define RANKFAULT_AGENT_LIBC_MODULE_H

#include "harness/agent/core_table.h"

void rf_remember_path(int fd, const char* path);
void rf_forget_path(int fd);
const char* rf_path_of(int fd); /* null when unknown; dup and inheritance are not followed */
int rf_is_file(int fd);         /* the number may have been given to a socket since: fclose is not seen */

#endif /* RANKFAULT_AGENT_LIBC_MODULE_H */
