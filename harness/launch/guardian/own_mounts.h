/* own_mounts.h: small file systems of the caller's own, of given sizes; the host's folders are not
 * touched. */
#ifndef RANKFAULT_OWN_MOUNTS_H
#define RANKFAULT_OWN_MOUNTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From now on only this process and the processes it starts see its mounts, which end with the last of
 * them. All functions return 0, or -1 with errno. */
int rf_own_mounts(void);
/* Mounts at /dev/shm, with the same open permissions, or at a folder, which is made when absent. */
int rf_mount_small(const char* path, uint64_t bytes);
/* So that the folder can be removed. */
int rf_unmount(const char* path);

#ifdef __cplusplus
}
#endif
#endif
