/* own_mounts.h: small file systems of the caller's own, of given sizes; the host's folders are not touched.
 */
#ifndef RANKFAULT_OWN_MOUNTS_H
#define RANKFAULT_OWN_MOUNTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From now on mounts are seen by this process and what it starts, and by nobody else. They go with the last
 * of them. All return 0, or -1 with errno. */
int rf_own_mounts(void);
/* At /dev/shm, open to all as that is, or at a folder, which is made where it is not there. */
int rf_mount_small(const char* path, uint64_t bytes);
/* So that the folder can be removed. */
int rf_unmount(const char* path);

#ifdef __cplusplus
}
#endif
#endif
