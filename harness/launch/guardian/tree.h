/* tree.h: which processes descend from the guardian now, and signals to exactly those. */
#ifndef RANKFAULT_GUARDIAN_TREE_H
#define RANKFAULT_GUARDIAN_TREE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rf_proc {
  int pid;
  int ppid;
  char state;
  uint64_t start; /* field 22 of /proc/PID/stat */
};

uint64_t rf_now_ns(void); /* CLOCK_MONOTONIC */

/* 0, or -1 when there is no such process. */
int rf_proc_read(int pid, struct rf_proc*);

/* All descendants of `root`, including zombies; *list is malloc'ed. */
size_t rf_descendants(int root, struct rf_proc** list);

/* Signals the process only if it is still the same one and still descends from `root`. 0 when sent. */
int rf_signal_descendant(const struct rf_proc*, int root, int signal);

/* Stops all descendants and waits (at most bound_ns) until all their threads have stopped, so that what
 * they hold does not change during a look. */
void rf_freeze(int root, uint64_t bound_ns);

#ifdef __cplusplus
}
#endif
#endif
