/* census.h: finds in /proc the files on this host that the job's processes made.
 *
 * A file is the job's when a descendant holds it for writing (a shared writable mapping, a writable
 * descriptor, a bound socket), it was born since the run began, it lies in /dev/shm, /tmp or /var/tmp, and
 * the user did not name it: a file on the command line is an output, not litter. In a /dev/shm of the
 * job's own no process needs to hold it. Each file is appended to the undo list, with the device, the
 * inode and the birth time that identify it: as "remove-file" when it is provably temporary, else as
 * "left-file". Sockets and files in /dev/shm are temporary; in a watched job, a file in /dev/shm is
 * temporary only if a process has mapped it as a segment. A regular file in /tmp or /var/tmp may be a
 * result: it is never removed. */
#ifndef RANKFAULT_GUARDIAN_CENSUS_H
#define RANKFAULT_GUARDIAN_CENSUS_H

#include <stddef.h>
#include <stdint.h>

#include "file_id.h"
#include "tree.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rf_census_file {
  struct rf_file_id id;
  int temporary; /* listed to be removed */
};

struct rf_census {
  int root;            /* the guardian's pid */
  int undo_fd;         /* O_APPEND */
  const char* run_dir; /* files below these two are not listed: they are the run's own */
  const char* tmp_dir;
  int watch;                    /* the job is watched: only its segments and sockets may be removed */
  int own_shm;                  /* /dev/shm belongs to this job alone, with everything in it */
  int64_t began_ns;             /* CLOCK_REALTIME */
  struct rf_census_file* known; /* grows */
  size_t known_count, known_room;
  char** named; /* files and folders that the user named */
  size_t named_count, named_room;
  char* unlisted; /* whole lines that the disk refused; retried with the next line */
  size_t unlisted_bytes, unlisted_room;
};

void rf_census_begin(struct rf_census*, int root, int undo_fd, const char* run_dir, const char* tmp_dir);
/* Sets when the run began, by CLOCK_REALTIME; default: when the census began. File times come from a clock
 * that lags behind by up to a tick, which is allowed for. */
void rf_census_began(struct rf_census*, int64_t realtime_ns);
void rf_census_end(struct rf_census*);
/* Remembers the paths in a word of the command or its environment: these files, and everything below these
 * folders, are not listed. */
void rf_census_named(struct rf_census*, const char* word);
/* Looks at every descendant now. */
void rf_census_take(struct rf_census*);
/* Looks at these processes. */
void rf_census_take_of(struct rf_census*, const struct rf_proc*, size_t);

#ifdef __cplusplus
}
#endif

#endif
