/* ending.c: reaping, and ending every process of the job.
 *
 * The hard end stops all processes, so that none forks or makes files any more, looks at what they hold,
 * and kills them. It repeats this until the kernel reports that we have no child, which for a subreaper
 * means no descendant. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "guardian.h"
#include "tree.h"

#define KILL_BOUND_NS 30000000000ull
#define FREEZE_BOUND_NS 200000000ull
#define FAR_BOUND_NS 5000000000ull

/* Ranks that yield endlessly keep others from the processor, so the code that stops them runs with
 * priority. The priority ends after FREEZE_BOUND_NS; the long part, the look at their files, is ordinary
 * again. */
static void come_first(int yes) {
  const struct sched_param priority = {.sched_priority = yes};
  if (!getenv("RANKFAULT_NO_REALTIME"))
    sched_setscheduler(0, yes ? SCHED_FIFO | SCHED_RESET_ON_FORK : SCHED_OTHER, &priority);
}

void rf_stop_all(struct rf_guardian* g) {
  come_first(1);
  rf_freeze(g->census.root, FREEZE_BOUND_NS);
  come_first(0);
}

static uint32_t forget_child(struct rf_guardian* g, int pid) {
  for (size_t i = 0; i < g->child_count; ++i)
    if (g->children[i].pid == pid) {
      const uint32_t tag = g->children[i].tag;
      g->children[i] = g->children[--g->child_count];
      return tag;
    }
  return 0;
}

int rf_reap(struct rf_guardian* g) {
  for (;;) {
    siginfo_t info = {0};
    int status = 0;
    struct rf_proc proc = {0};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL)) {
      if (errno == EINTR) continue;
      return 0; /* ECHILD */
    }
    if (info.si_pid == 0) return 1;
    rf_proc_read(info.si_pid, &proc); /* still a zombie: its start time can be read */
    const uint64_t now = rf_now_ns();
    if (waitpid(info.si_pid, &status, __WALL) != info.si_pid || rf_load_ended(g, info.si_pid)) continue;
    const struct rf_guardian_packet packet = {.message = RF_G_ENDED,
                                              .tag = forget_child(g, info.si_pid),
                                              .pid = info.si_pid,
                                              .a = status,
                                              .start_time = proc.start,
                                              .time_ns = now};
    rf_say(g, &packet, NULL, 0);
  }
}

static int far_launchers(const struct rf_guardian* g, int signal) {
  int n = 0;
  for (size_t i = 0; i < g->child_count; ++i) {
    if (!g->children[i].far) continue;
    ++n;
    if (signal) kill(g->children[i].pid, signal);
  }
  return n;
}

void rf_ask_far_launchers(struct rf_guardian* g) {
  const uint64_t deadline = rf_now_ns() + FAR_BOUND_NS;
  if (!far_launchers(g, SIGTERM)) return;
  far_launchers(g, SIGCONT);
  while (rf_reap(g) && far_launchers(g, 0) && rf_now_ns() < deadline)
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

/* Counts a process once; 1 when it is new. */
static int count_signalled(struct rf_guardian* g, int pid) {
  for (size_t i = 0; i < g->signalled_count; ++i)
    if (g->signalled[i] == pid) return 0;
  if (g->signalled_count == g->signalled_room) {
    const size_t room = g->signalled_room ? 2 * g->signalled_room : 64;
    int* more = realloc(g->signalled, room * sizeof *more);
    if (!more) return 1;
    g->signalled = more;
    g->signalled_room = room;
  }
  g->signalled[g->signalled_count++] = pid;
  return 1;
}

/* Returns how many of them had not been signalled before. */
static int signal_all(struct rf_guardian* g, int signal) {
  struct rf_proc* list;
  int fresh = 0;
  const size_t n = rf_descendants(g->census.root, &list);
  for (size_t i = 0; i < n; ++i) {
    if (list[i].state == 'Z' && signal != SIGKILL) continue;
    if (rf_signal_descendant(&list[i], g->census.root, signal)) continue;
    if (signal != SIGKILL && list[i].state == 'T') rf_signal_descendant(&list[i], g->census.root, SIGCONT);
    if (list[i].state != 'Z') fresh += count_signalled(g, list[i].pid);
  }
  free(list);
  return fresh;
}

void rf_kill_begin(struct rf_guardian* g, int first_signal, uint64_t grace_ns) {
  rf_census_take(&g->census);
  if (first_signal > 0) signal_all(g, first_signal);
  g->ending = 1;
  g->kill_at = rf_now_ns() + (first_signal > 0 ? grace_ns : 0);
}

void rf_kill_hard(struct rf_guardian* g) {
  const uint64_t deadline = rf_now_ns() + KILL_BOUND_NS;
  if (!rf_reap(g)) return;
  rf_ask_far_launchers(g);
  if (!rf_reap(g)) return;
  rf_stop_all(g);
  rf_census_take(&g->census);
  signal_all(g, SIGKILL);
  while (rf_reap(g) && rf_now_ns() < deadline) {
    const struct timespec tick = {.tv_nsec = 1000000};
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigtimedwait(&child, NULL, &tick); /* blocked, so that a pending one also wakes us */
    if (signal_all(g, SIGKILL) > 0) {
      rf_stop_all(g);
      rf_census_take(&g->census);
    }
  }
}

void rf_kill_over(struct rf_guardian* g) {
  const struct rf_guardian_packet packet = {
      .message = RF_G_ALL_GONE, .a = (int32_t)g->signalled_count, .time_ns = rf_now_ns()};
  g->ending = 0;
  g->signalled_count = 0;
  rf_say(g, &packet, NULL, 0);
}
