/* own_mounts.c: see own_mounts.h. */
#include "own_mounts.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

int rf_own_mounts(void) {
  if (unshare(CLONE_NEWNS)) return -1;
  /* Otherwise the mounts would spread to the host's name space. */
  return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

int rf_mount_small(const char* path, uint64_t bytes) {
  char options[64];
  const char* mode = strcmp(path, "/dev/shm") == 0 ? "1777" : "0700";
  snprintf(options, sizeof options, "size=%llu,mode=%s", (unsigned long long)bytes, mode);
  if (mkdir(path, 0700) && errno != EEXIST) return -1;
  return mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options);
}

/* Works even while a process that does not end has files open in it. */
int rf_unmount(const char* path) { return umount2(path, MNT_DETACH); }
