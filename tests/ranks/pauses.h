/* pauses.h: what delays a healthy rank: computing, sleeping, a slow disk, a neighbour that takes the
 * cores, a stop of its own process. For C and C++. */
#ifndef RANKFAULT_TESTS_RANKS_PAUSES_H
#define RANKFAULT_TESTS_RANKS_PAUSES_H

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static inline double pause_clock_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static inline void compute_ms(int ms) {
  const double until = pause_clock_ms() + ms;
  volatile double work = 1;
  while (pause_clock_ms() < until)
    for (int i = 0; i < 1000; ++i) work = work * 1.0000001;
}

static inline void sleep_ms(int ms) {
  struct timespec left = {ms / 1000, (long)(ms % 1000) * 1000000};
  while (nanosleep(&left, &left) != 0) {
  }
}

/* A checkpoint on a slow disk: a few writes and fsyncs with long sleeps between them. */
static inline void save_ms(int ms) {
  const char* folder = getenv("TMPDIR");
  char path[4096];
  static char block[1 << 16];
  snprintf(path, sizeof path, "%s/checkpoint.%d", folder ? folder : "/tmp", (int)getpid());
  const int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
  for (int part = 0; part < 4; ++part) {
    if (fd >= 0 && write(fd, block, sizeof block) > 0) fsync(fd);
    sleep_ms(ms / 4);
  }
  if (fd >= 0) close(fd);
  unlink(path);
}

/* Starts processes that compute for `ms`, two for each core. They end by themselves. */
static inline void crowd_the_host_ms(int ms) {
  for (long i = 0; i < 2 * sysconf(_SC_NPROCESSORS_ONLN); ++i)
    if (fork() == 0) {
      compute_ms(ms);
      _exit(0);
    }
}

/* A helper stops the calling process and continues it after `ms`. */
static inline void be_stopped_ms(int ms) {
  const pid_t self = getpid(), helper = fork();
  if (helper == 0) {
    kill(self, SIGSTOP);
    sleep_ms(ms);
    kill(self, SIGCONT);
    _exit(0);
  }
  waitpid(helper, NULL, 0);
}

/* The same while the process continues: stopped after `after`, for `ms`. */
static inline void be_stopped_soon_ms(int after, int ms) {
  const pid_t self = getpid();
  if (fork() != 0) return;
  sleep_ms(after);
  kill(self, SIGSTOP);
  sleep_ms(ms);
  kill(self, SIGCONT);
  _exit(0);
}

static inline void wait_for_helpers(void) {
  while (waitpid(-1, NULL, 0) > 0) {
  }
}

#endif
