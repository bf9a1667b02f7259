/* rank: one rank of a measured job. It sums in a loop, and writes to /tmp of its node when it lives and how
it ends.

usage: rank SECONDS    it ends by itself after that time; 0: never. Compiled with NO_MPI it sums nothing.

/tmp/rank-PID has one line an event: time, event, value. /tmp/beat-PID has the time of the last heartbeat,
from a thread of its own, and the number of sums. All times are those of CLOCK_MONOTONIC. If /tmp/leave
appears, the rank exits with status 0 and does not call MPI_Finalize. */
#define _GNU_SOURCE
#ifndef NO_MPI
#include <mpi.h>
#endif
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kBeatUs = 20000, kStepUs = 20000, kPollUs = 2000 };

static int events = -1;
static int beats = -1;
static volatile long sums;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void say(const char* event, int value) {
  char line[100];
  int length = snprintf(line, sizeof line, "%.6f %s %d\n", now(), event, value);
  if (write(events, line, (size_t)length) < 0) _exit(3);
}

static void on_signal(int number) {
  say("signal", number);
  if (number == SIGCONT) return;
  signal(number, SIG_DFL);
  raise(number);
}

static void on_end(int status, void* unused) {
  (void)unused;
  say("exit", status);
}

static void* beat(void* unused) {
  (void)unused;
  for (;;) {
    char line[64];
    int length = snprintf(line, sizeof line, "%.6f %ld          \n", now(), sums);
    if (pwrite(beats, line, (size_t)length, 0) < 0) _exit(3);
    usleep(kBeatUs);
  }
  return NULL;
}

static int file_of(const char* kind) {
  char name[64];
  snprintf(name, sizeof name, "/tmp/%s-%d", kind, (int)getpid());
  return open(name, O_WRONLY | O_CREAT | O_APPEND * (kind[0] == 'r') | O_CLOEXEC, 0644);
}

/* The heartbeat's thread takes no signal, so that the main thread says which one came. */
static void start_beating(void) {
  sigset_t all;
  sigset_t before;
  pthread_t thread;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  if (pthread_create(&thread, NULL, beat, NULL) != 0) exit(3);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Returns the largest value of all ranks. It does not spin: a rank that waits for a dead one must leave the
 * cores to others. */
static int largest(int mine) {
#ifdef NO_MPI
  return mine;
#else
  int result = 0;
  int done = 0;
  MPI_Request request;
  MPI_Iallreduce(&mine, &result, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
  while (!done) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done) usleep(kPollUs);
  }
  return result;
#endif
}

static int number_in(const char* variable) {
  const char* text = getenv(variable);
  return text ? atoi(text) : 0;
}

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 0;
  const int kept[] = {SIGTERM, SIGINT, SIGHUP, SIGCONT, SIGABRT, SIGPIPE};
  events = file_of("rank");
  beats = file_of("beat");
  say("attempt", number_in("SLURM_RESTART_COUNT"));
  on_exit(on_end, NULL);
  start_beating();
#ifdef NO_MPI
  int rank = number_in("SLURM_PROCID");
  int size = number_in("SLURM_NTASKS");
#else
  int rank;
  int size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
#endif
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) signal(kept[i], on_signal);
  say("rank", rank);
  say("size", size);
  const double began = now();
  while (!largest(seconds > 0 && now() > began + seconds)) {
    sums++;
    if (access("/tmp/leave", F_OK) == 0) {
      say("leaves", 0);
      exit(0);
    }
    usleep(kStepUs);
  }
#ifndef NO_MPI
  MPI_Finalize();
#endif
  return 0;
}
