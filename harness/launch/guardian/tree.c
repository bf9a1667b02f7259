/* tree.c: see tree.h. A pid is never trusted alone: pidfd first, then start time and ancestry. */
#include "tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t rf_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int read_stat(const char* path, struct rf_proc* proc) {
  char text[1024];
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  const ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return -1;
  text[n] = 0;
  const char* p = strrchr(text, ')'); /* the name may contain anything, even ") R 1" */
  unsigned long long start = 0;
  if (!p || sscanf(p + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                   &proc->state, &proc->ppid, &start) != 3)
    return -1;
  proc->start = start;
  return 0;
}

int rf_proc_read(int pid, struct rf_proc* proc) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  proc->pid = pid;
  return read_stat(path, proc);
}

static int by_pid(const void* a, const void* b) {
  return ((const struct rf_proc*)a)->pid - ((const struct rf_proc*)b)->pid;
}

static int is_below(const struct rf_proc* all, size_t n, const struct rf_proc* proc, int root) {
  for (size_t steps = 0; proc && steps <= n; ++steps) {
    if (proc->ppid == root) return 1;
    const struct rf_proc key = {.pid = proc->ppid};
    proc = bsearch(&key, all, n, sizeof *all, by_pid);
  }
  return 0;
}

size_t rf_descendants(int root, struct rf_proc** list) {
  size_t n = 0, room = 256, kept = 0;
  struct rf_proc* all = malloc(room * sizeof *all);
  *list = NULL;
  DIR* dir = opendir("/proc");
  if (!all || !dir) {
    free(all);
    if (dir) closedir(dir);
    return 0;
  }
  for (struct dirent* e; (e = readdir(dir));) {
    const int pid = atoi(e->d_name);
    if (pid <= 0) continue;
    if (n == room) {
      struct rf_proc* more = realloc(all, 2 * room * sizeof *all);
      if (!more) break;
      all = more;
      room *= 2;
    }
    if (rf_proc_read(pid, &all[n]) == 0) ++n;
  }
  closedir(dir);
  qsort(all, n, sizeof *all, by_pid);
  struct rf_proc* found = malloc((n ? n : 1) * sizeof *found);
  for (size_t i = 0; found && i < n; ++i)
    if (all[i].pid != root && is_below(all, n, &all[i], root)) found[kept++] = all[i];
  free(all);
  *list = found;
  return kept;
}

static int descends(int pid, int root) {
  struct rf_proc proc;
  for (int steps = 0; pid > 1 && steps < 4096; ++steps) {
    if (rf_proc_read(pid, &proc)) return 0;
    if (proc.ppid == root) return 1;
    pid = proc.ppid;
  }
  return 0;
}

int rf_signal_descendant(const struct rf_proc* proc, int root, int signal) {
  const int fd = (int)syscall(SYS_pidfd_open, proc->pid, 0);
  if (fd < 0) return -1;
  struct rf_proc now;
  int rc = -1;
  if (rf_proc_read(proc->pid, &now) == 0 && now.start == proc->start && descends(proc->pid, root))
    rc = (int)syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0);
  close(fd);
  return rc;
}

/* Zombie threads count as stopped. */
static int all_threads_stopped(int pid) {
  char path[320];
  struct rf_proc thread;
  int stopped = 1;
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR* dir = opendir(path);
  if (!dir) return 1;
  for (struct dirent* e; stopped && (e = readdir(dir));) {
    if (e->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/%d/task/%s/stat", pid, e->d_name);
    if (read_stat(path, &thread) == 0 && !strchr("TtZXx", thread.state)) stopped = 0;
  }
  closedir(dir);
  return stopped;
}

void rf_freeze(int root, uint64_t bound_ns) {
  const uint64_t deadline = rf_now_ns() + bound_ns;
  for (;;) {
    struct rf_proc* list;
    const size_t n = rf_descendants(root, &list);
    int running = 0;
    for (size_t i = 0; i < n; ++i) {
      if (all_threads_stopped(list[i].pid)) continue;
      running = 1;
      rf_signal_descendant(&list[i], root, SIGSTOP);
    }
    free(list);
    if (!running || rf_now_ns() > deadline) return;
    nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
  }
}
