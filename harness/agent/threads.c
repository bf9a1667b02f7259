/* threads.c: the ids of the threads that MPI's initialisation creates. The diagnosis must know them, because
 * any other thread of a process may make the call that others wait for. */
#include <dirent.h>
#include <stddef.h>
#include <string.h>

#include "harness/agent/agent.h"
#include "harness/agent/sys.h"

enum { kMost = RF_MAX_OWN_THREADS + 1 }; /* including the thread that initialises MPI */

struct kernel_entry { /* of getdents64(2) */
  uint64_t inode;
  int64_t next;
  uint16_t bytes;
  uint8_t type;
  char name[];
};

static uint32_t id_of(const char* name) {
  uint32_t id = 0;
  for (; *name >= '0' && *name <= '9'; ++name) id = id * 10 + (uint32_t)(*name - '0');
  return *name ? 0 : id;
}

/* Returns the number of threads of this process, with the first kMost of them in `ids`; -1: unknown. */
static int list_threads(uint32_t ids[kMost]) {
  _Alignas(struct kernel_entry) char buffer[1024];
  int count = 0;
  const int fd = rf_sys_open("/proc/self/task", O_RDONLY | O_DIRECTORY, 0);
  if (fd < 0) return -1;
  long got;
  while ((got = rf_sys6(SYS_getdents64, fd, (long)buffer, sizeof(buffer), 0, 0, 0)) > 0)
    for (long at = 0; at < got;) {
      const struct kernel_entry* const e = (const struct kernel_entry*)(void*)(buffer + at);
      const uint32_t id = id_of(e->name);
      if (id && count < kMost) ids[count] = id;
      count += id != 0;
      at += e->bytes;
    }
  rf_sys_close(fd);
  return got < 0 ? -1 : count;
}

static int begun_in;  /* the process in which MPI's initialisation began */
static int was_alone; /* it had one thread then, so all others at the end are MPI's */

void rf_threads_before_mpi(void) {
  uint32_t ids[kMost];
  const int pid = rf_sys_pid();
  if (begun_in == pid) return;
  begun_in = pid;
  was_alone = list_threads(ids) == 1;
}

void rf_threads_after_mpi(void) {
  uint32_t ids[kMost];
  const uint32_t me = (uint32_t)rf_sys_tid();
  if (!was_alone || begun_in != rf_sys_pid()) return;
  was_alone = 0; /* later threads do not belong to the initialisation */
  const int count = list_threads(ids);
  for (int i = 0, kept = 0; i < count && i < kMost; ++i)
    if (ids[i] != me && kept < (int)RF_MAX_OWN_THREADS) RF_STORE(&rf_head->own_threads[kept++], ids[i]);
}
