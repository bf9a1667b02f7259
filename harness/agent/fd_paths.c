/* fd_paths.c: a fixed table from descriptor to path, so that a write or an fsync has a path. */
#include <stdio.h>
#include <string.h>

#include "harness/agent/libc_module.h"
#include "harness/agent/sys.h"

#define DESCRIPTORS 1024

static char paths[DESCRIPTORS][RF_PATH_BYTES];
static int owner; /* ignore a vfork child that closes descriptors in its parent's memory */

void rf_remember_path(int fd, const char* path) {
  if (fd < 0 || fd >= DESCRIPTORS) return;
  const size_t n = strlen(path);
  owner = rf_sys_pid();
  paths[fd][0] = 0;
  if (n < RF_PATH_BYTES) memcpy(paths[fd], path, n + 1);
}

void rf_forget_path(int fd) {
  if (fd >= 0 && fd < DESCRIPTORS && paths[fd][0] && owner == rf_sys_pid()) paths[fd][0] = 0;
}

const char* rf_path_of(int fd) { return fd >= 0 && fd < DESCRIPTORS && paths[fd][0] ? paths[fd] : NULL; }

int rf_is_file(int fd) {
  char link[64], target[2];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  return rf_sys6(SYS_readlinkat, AT_FDCWD, (long)link, (long)target, 1, 0, 0) == 1 && target[0] == '/';
}
