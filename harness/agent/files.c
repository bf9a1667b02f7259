/* files.c: libc points: file operations that an action waits for, and all of /dev/shm. */
#include <string.h>

#include "harness/agent/agent.h"
#include "harness/agent/sys.h"

int rf_file_wanted(uint16_t op, const char* path) {
  if (!path || rf_inert() || rf_me.in_core) return 0;
  if (strncmp(path, "/dev/shm/", 9) != 0 && !(rf_is_armed(op) && rf_path_is_armed(op, path))) return 0;
  return rf_is_own_process();
}

enum rf_verdict rf_file_begin(struct rf_call* c) {
  c->library = RF_LIB_LIBC;
  return rf_inner_begin(c);
}
