/* guardian.h: the guardian's one object: the job's tree, the connection to the tool, and what is in
 * progress. */
#ifndef RANKFAULT_GUARDIAN_GUARDIAN_H
#define RANKFAULT_GUARDIAN_GUARDIAN_H

#include <stddef.h>
#include <stdint.h>

#include "census.h"
#include "harness/launch/guardian_protocol.h"
#include "spawn.h"

struct rf_message { /* a packet that waits to be sent */
  struct rf_message* next;
  size_t bytes;
  char data[];
};

struct rf_child {
  int pid;
  uint32_t tag;
  int far; /* RF_SPAWN_FAR */
};

struct rf_guardian {
  int socket; /* -1 after the tool is gone */
  int tool;   /* pidfd */
  int signals;
  int files; /* inotify; -1 when the kernel refused */
  const char *control_path, *undo_path, *run_dir, *tmp_dir;
  char** mounts; /* what it has mounted: path, size, ..., null */
  uint64_t tmp_dev, tmp_ino;
  struct rf_census census;
  struct rf_inherited inherited;
  uint64_t census_at;    /* when the next look is due */
  int64_t census_credit; /* ns of CPU time, as of census_credit_at */
  uint64_t census_credit_at;
  struct rf_child* children;
  size_t child_count, child_room;
  struct rf_child* busy; /* load.c: processes that we started beside the job */
  size_t busy_count, busy_room;
  struct rf_message *queue, **queue_end;
  int ending;       /* a kill is in progress */
  uint64_t kill_at; /* when SIGKILL follows */
  int* signalled;   /* pids that we ended, for the count */
  size_t signalled_count, signalled_room;
};

/* talk.c: never blocks; queues what the socket does not take. `text` may be null. */
void rf_say(struct rf_guardian*, const struct rf_guardian_packet*, const char* text, size_t bytes);
/* Whole lines. Lines that do not fit into the packet are sent before it, in packets of the kind `more`. */
void rf_say_lines(struct rf_guardian*, const struct rf_guardian_packet*, uint32_t more, const char* text,
                  size_t bytes);
void rf_flush(struct rf_guardian*);

/* ending.c */
/* Launchers with ranks on other hosts end them when they get SIGTERM; waits for them, 5 s at most. */
void rf_ask_far_launchers(struct rf_guardian*);
void rf_stop_all(struct rf_guardian*); /* every thread of the job, within 200 ms; some may still run then */
int rf_reap(struct rf_guardian*);      /* 1 while children are left */
void rf_kill_begin(struct rf_guardian*, int first_signal, uint64_t grace_ns);
void rf_kill_hard(struct rf_guardian*); /* returns when nothing is left, or after 30 s */
void rf_kill_over(struct rf_guardian*);

/* load.c: starts `per_core` busy processes on each core that `pid` may use. Returns 0, or an errno, and
 * then starts none of the tag. The processes of a tag are ended together; tag 0: all. */
int rf_load_begin(struct rf_guardian*, uint32_t tag, int pid, int per_core);
void rf_load_end(struct rf_guardian*, uint32_t tag);
int rf_load_ended(struct rf_guardian*, int pid); /* another caller reaped `pid`: 1 when it was one of them */

#endif
