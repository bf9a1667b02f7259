/* hydra_job.c: hydra gives its ranks no name of their job. They share the process that started them: the
 * proxy, which is the same for all ranks of a job on this host and for no other job. */
#include "hydra_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/agent/agent_abi.h"
#include "harness/agent/sys.h"

enum { kMostAncestors = 64 };

struct ancestor {
  int parent;
  unsigned long long start;
  char name[64];
};

/* Reads fields 2, 4 and 22 of /proc/PID/stat; the name may contain blanks and parentheses. */
static int look_at(int pid, struct ancestor* found) {
  char path[64], text[1024];
  snprintf(path, sizeof(path), "/proc/%d/stat", pid);
  const int fd = rf_sys_open(path, O_RDONLY, 0);
  if (fd < 0) return -1;
  const long got = rf_sys_read(fd, text, sizeof(text) - 1);
  rf_sys_close(fd);
  text[got < 0 ? 0 : got] = 0;
  char *open = strchr(text, '('), *close = strrchr(text, ')');
  if (!open || !close || close < open || close - open > (long)sizeof(found->name)) return -1;
  memcpy(found->name, open + 1, (size_t)(close - open - 1));
  found->name[close - open - 1] = 0;
  return sscanf(close + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                &found->parent, &found->start) == 2
             ? 0
             : -1;
}

uint64_t rf_hydra_job(void) {
  struct ancestor at;
  int pid = getppid();
  for (int i = 0; i < kMostAncestors && pid > 1 && look_at(pid, &at) == 0; ++i) {
    if (strcmp(at.name, "hydra_pmi_proxy") == 0) {
      const uint64_t words[2] = {(uint64_t)pid, at.start};
      return rf_hash_bytes(0, words, sizeof(words));
    }
    pid = at.parent;
  }
  const char* step = getenv("SLURM_STEP_ID");
  return step && *step ? rf_hash_text(step) : 0;
}
