/* census.h: which files on this host were made by the job, found in /proc of its processes.
 *
 * A file is the job's when a descendant holds it for writing (a shared writable mapping, a writable
 * descriptor, a bound socket), it was born since the run began, it lies in /dev/shm, /tmp or
 * /var/tmp, and the user did not name it: what stands on the command line is an output, not litter. In a
 * /dev/shm of the job's own nobody need hold it. Each is appended to the undo list, with the device, the
 * inode and the birth time that prove it: as "remove-file" when it can be shown to be temporary, else as
 * "left-file". Sockets are temporary, and so are files in /dev/shm; of a watched job only those that a
 * process has mapped, as a segment is. A regular file in /tmp or /var/tmp may be a result: it is never
 * removed. */
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
  int watch;                    /* the job is watched: only segments and sockets of it may be removed */
  int own_shm;                  /* /dev/shm is this job's alone: all that lies there is its own */
  int64_t began_ns;             /* CLOCK_REALTIME */
  struct rf_census_file* known; /* grows */
  size_t known_count, known_room;
  char** named; /* files and folders that the user named */
  size_t named_count, named_room;
  char* unlisted; /* whole lines that the disk refused; tried again with the next line */
  size_t unlisted_bytes, unlisted_room;
};

void rf_census_begin(struct rf_census*, int root, int undo_fd, const char* run_dir, const char* tmp_dir);
/* The run began at that time of CLOCK_REALTIME, else when the census began. Files are stamped by a clock that
 * lags behind it by up to a tick: that much is allowed for. */
void rf_census_began(struct rf_census*, int64_t realtime_ns);
void rf_census_end(struct rf_census*);
/* Remembers the paths that stand in a word of the command or its environment: these files, and what lies
 * below these folders, are not listed. */
void rf_census_named(struct rf_census*, const char* word);
/* Looks at every descendant now. */
void rf_census_take(struct rf_census*);
/* Looks at these processes. */
void rf_census_take_of(struct rf_census*, const struct rf_proc*, size_t);

#ifdef __cplusplus
}
#endif

#endif
