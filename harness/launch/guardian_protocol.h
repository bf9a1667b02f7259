/* guardian_protocol.h: the messages between the tool and the guardian, over one SOCK_SEQPACKET pair. Each
 * message is one packet: a header, then text fields ended by NUL.
 *
 * The guardian is started as: rankfault-guardian SOCKET_FD CONTROL_PATH UNDO_PATH RUN_DIR TMP_DIR KIND
 * [FOLDER BYTES]... KIND is "run" or "watch". The job has a small file system of its own at each FOLDER:
 * /dev/shm, or one below TMP_DIR. Both C11 and C++20 code include this file. */
#ifndef RANKFAULT_GUARDIAN_PROTOCOL_H
#define RANKFAULT_GUARDIAN_PROTOCOL_H

#include <stdint.h>

#define RF_GUARDIAN_PACKET 262144u

enum rf_guardian_message {
  /* tool -> guardian */
  RF_G_SPAWN = 1, /* tag, argc in a, envc in b; then cwd, stdout path, stderr path, argv..., env... */
  RF_G_KILL,   /* end every descendant now: a = signal first sent (0: none), time_ns = grace before SIGKILL */
  RF_G_CENSUS, /* look at all descendants' files now, and append to the undo list */
  RF_G_QUIT,   /* kill all, undo, and exit 0; a = 1: the job ended by itself, end and remove nothing of it */
  RF_G_LOAD,   /* tag; a = busy processes on each core that process pid may use; 0: end those of the tag, or
                * all */
  /* guardian -> tool */
  RF_G_SPAWNED = 64, /* tag, pid, start_time */
  RF_G_REFUSED,      /* tag, a = errno; then what was tried */
  RF_G_ENDED,        /* tag (0: an orphan that we reaped), pid, a = wait status, time_ns */
  RF_G_ALL_GONE,     /* no descendant is left; a = number of killed processes */
  RF_G_CENSUS_DONE,  /* a = number of files known to be the job's */
  RF_G_UNDONE, /* a = entries undone, b = entries that could not be undone; then lines: "failed TEXT" for
                * each of these, "left PATH" for each file of the job that stays */
  RF_G_LOADED, /* a = busy processes that exist now, b = errno of the one that could not be started */
  RF_G_LINES   /* lines of the RF_G_UNDONE that follows: those that do not fit into one packet */
};

enum rf_spawn_flags {
  /* A launcher with ranks on other hosts. It alone can end them, so it gets SIGTERM and some seconds before
   * it is killed. */
  RF_SPAWN_FAR = 1
};

struct rf_guardian_packet {
  uint32_t message;
  uint32_t tag;
  int32_t pid;
  int32_t a;
  int32_t b;
  uint32_t flags; /* rf_spawn_flags */
  uint64_t start_time;
  uint64_t time_ns; /* CLOCK_MONOTONIC */
};

#endif
