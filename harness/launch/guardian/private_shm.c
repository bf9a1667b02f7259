/* private_shm.c: see private_shm.h. */
#include "private_shm.h"

#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>

int rf_private_shm(uint64_t bytes) {
  char options[64];
  snprintf(options, sizeof options, "size=%llu,mode=1777", (unsigned long long)bytes);
  if (unshare(CLONE_NEWNS)) return -1;
  /* Else the mount would spread to the host's name space. */
  if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)) return -1;
  return mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, options);
}
