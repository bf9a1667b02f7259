/* state.h: what a program needs while it runs: the rank, the limit, the functions of the library, buffers. */
#ifndef RANKFAULT_WORKLOADS_REPLAY_STATE_H
#define RANKFAULT_WORKLOADS_REPLAY_STATE_H

#include <time.h>

#include "parse.h"

/* Memory that calls use again once it is free. Twice the size is allocated: a call with a wrong count must
 * hang or fail, and not write to other memory. */
struct replay_buffer {
  void* memory;
  int64_t bytes;
  int is_busy;
  struct replay_buffer* next;
};

struct replay_run {
  struct replay_program program;
  int rank, step, checks, wants_check, diverges;
  double limit; /* in seconds; 0: none was given */
  const char *store, *file;
  int64_t* made; /* of each group: the collectives of this rank */
  struct replay_buffer* buffers;
  void* (*allocate)(size_t bytes);
  void (*perform)(const struct replay_statement*);
  void (*check)(const int64_t* mine); /* exchanges the numbers of one rank, and calls replay_compare */
};

static inline void replay_leave(const struct replay_run* run, const char* what, const char* why) {
  fprintf(stderr, "rank %d: step %d: %s: %.*s\n", run->rank, run->step, what, (int)strcspn(why, "\n"), why);
}

/* What messages call a statement: its operation and its group. */
static inline const char* replay_title(const struct replay_run* run, const struct replay_statement* s,
                                       char* title, size_t size) {
  const int length = (int)strcspn(s->text, " ");
  snprintf(title, size, "%.*s on %s", length, s->text, run->program.groups[s->group].name);
  return title;
}

static inline double replay_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline void replay_doze(int64_t microseconds) {
  const struct timespec pause = {(time_t)(microseconds / 1000000), (long)(microseconds % 1000000 * 1000)};
  nanosleep(&pause, NULL);
}

static inline double replay_limit(const struct replay_run* run) { return run->limit > 0 ? run->limit : 1800; }

static inline struct replay_buffer* replay_take(struct replay_run* run, int64_t bytes) {
  struct replay_buffer* buffer = run->buffers;
  while (buffer && (buffer->is_busy || buffer->bytes != bytes)) buffer = buffer->next;
  if (!buffer) {
    buffer = (struct replay_buffer*)replay_grown(NULL, sizeof *buffer);
    buffer->memory = run->allocate((size_t)(2 * bytes + 64));
    buffer->bytes = bytes;
    buffer->next = run->buffers;
    run->buffers = buffer;
  }
  buffer->is_busy = 1;
  return buffer;
}

#endif
