/* undo.h: undoes what a run did to the host, by its undo list (undo_entry.h).
 *
 * It may run twice, and on a list whose entries are all gone. The guardian and `rankfault clean` use it. */
#ifndef RANKFAULT_GUARDIAN_UNDO_H
#define RANKFAULT_GUARDIAN_UNDO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rf_undo_run {
  const char* undo_path;
  const char* unlisted; /* whole lines that the disk refused; may be null */
  size_t unlisted_bytes;
  const char* run_dir;
  const char* tmp_dir;
  uint64_t tmp_dev, tmp_ino; /* the directory that was made; 0: not known, then it is left */
  int only_dirs;             /* the machine was rebooted: inode numbers of files prove nothing */
  int root;                  /* processes that descend from it may hold files; 0: none may */
  int watch;                 /* the job is watched: a file that another process holds is simply left */
  int leave;                 /* the job ended by itself: none of its files is removed */
};

struct rf_undo_result {
  int undone;
  int failed;
  char* lines; /* "failed TEXT" for each failure, "left PATH" for each file that stays; malloc'ed, may be
                * null */
};

void rf_undo(const struct rf_undo_run*, struct rf_undo_result*);

#ifdef __cplusplus
}
#endif
#endif
