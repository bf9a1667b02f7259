/* load.c: busy processes beside the job, on the cores that one of its processes may use. They are not part
 * of the job, and end on request or with us. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guardian.h"

static void be_busy(int parent, int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "rankfault-busy");
  syscall(SYS_close_range, 0u, ~0u, 0u);
  if (getppid() != parent || sched_setaffinity(0, sizeof one, &one)) _exit(1);
  for (volatile unsigned turn = 0;; ++turn) {
  }
}

static int remember(struct rf_guardian* g, int pid, uint32_t tag) {
  if (g->busy_count == g->busy_room) {
    const size_t room = g->busy_room ? 2 * g->busy_room : 64;
    struct rf_child* more = realloc(g->busy, room * sizeof *more);
    if (!more) return -1;
    g->busy = more;
    g->busy_room = room;
  }
  g->busy[g->busy_count++] = (struct rf_child){pid, tag, 0};
  return 0;
}

static int start_one(struct rf_guardian* g, int core, uint32_t tag) {
  const int parent = getpid(), pid = fork();
  if (pid == 0) be_busy(parent, core);
  if (pid < 0) return errno;
  if (remember(g, pid, tag) == 0) return 0;
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  return ENOMEM;
}

int rf_load_begin(struct rf_guardian* g, uint32_t tag, int pid, int per_core) {
  cpu_set_t cores;
  if (sched_getaffinity(pid, sizeof cores, &cores)) return errno;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    for (int i = 0; CPU_ISSET(core, &cores) && i < per_core; ++i) {
      const int error = start_one(g, core, tag);
      if (!error) continue;
      rf_load_end(g, tag); /* a part of it is another load than the requested one */
      return error;
    }
  return 0;
}

void rf_load_end(struct rf_guardian* g, uint32_t tag) {
  size_t kept = 0;
  for (size_t i = 0; i < g->busy_count; ++i) {
    if (tag && g->busy[i].tag != tag) {
      g->busy[kept++] = g->busy[i];
      continue;
    }
    kill(g->busy[i].pid, SIGKILL);
    waitpid(g->busy[i].pid, NULL, 0);
  }
  g->busy_count = kept;
}

/* Another function reaped it, and its pid may belong to another process now. */
int rf_load_ended(struct rf_guardian* g, int pid) {
  for (size_t i = 0; i < g->busy_count; ++i)
    if (g->busy[i].pid == pid) {
      g->busy[i] = g->busy[--g->busy_count];
      return 1;
    }
  return 0;
}
