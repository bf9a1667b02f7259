/* private_shm.h: a /dev/shm of the caller's own, of a given size; the host's is not touched. */
#ifndef RANKFAULT_PRIVATE_SHM_H
#define RANKFAULT_PRIVATE_SHM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For this process and what it starts from now on. It goes with the last of them. 0, or -1 with errno. */
int rf_private_shm(uint64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
