/* undo_entry.h: one line of the undo list: what it says, how it is written and how it is read.
 *
 * The list is `undo` in the run directory. A line is appended with one write(2) before the act that it
 * undoes; a line without its \n was torn, and was never acted upon. */
#ifndef RANKFAULT_GUARDIAN_UNDO_ENTRY_H
#define RANKFAULT_GUARDIAN_UNDO_ENTRY_H

#include <stddef.h>

#include "file_id.h"

#ifdef __cplusplus
extern "C" {
#endif

enum rf_undo_kind {
  RF_UNDO_UNKNOWN,
  RF_UNDO_FILE, /* remove-file DEV INO BORN PATH: a segment or socket that the job made; removed only while
                 * all three numbers match and no process outside the run holds it. BORN: its birth in ns,
                 * 0 where the file system does not keep it */
  RF_UNDO_LEFT_FILE, /* left-file DEV INO BORN PATH: another file that the job made: reported, never removed
                      */
  RF_UNDO_DIR,       /* remove-dir PATH: the job's TMPDIR with all that is in it; only below RUN or TMP_DIR */
  RF_UNDO_MODE,      /* restore-mode DEV INO MODE PATH: after a chmod of ours; MODE in octal */
  RF_UNDO_STOP,      /* continue PID START: after a SIGSTOP of ours */
  RF_UNDO_SEGMENT,   /* remove-segment ID MAKER CHANGED: a System V segment that a process of the job made;
                      * removed only while the kernel names that maker and that change, and no process has it
                      * mapped */
  RF_UNDO_LEFT,      /* left-object WORDS: another object outside file systems: reported, never removed */
};

struct rf_undo_entry {
  enum rf_undo_kind kind;
  struct rf_file_id file; /* FILE, LEFT_FILE; without `born` MODE */
  unsigned mode;          /* MODE */
  int pid;                /* STOP */
  unsigned long long start;
  int segment, maker; /* SEGMENT */
  long long changed;
  const char* text; /* the path, or the words; when read: a part of the line */
};

/* Writes the entry as a line with its \n. Returns its length; 0: it does not fit. */
size_t rf_undo_format(const struct rf_undo_entry*, char* line, size_t room);

/* Reads a line without its \n. RF_UNDO_UNKNOWN: it is none of these. */
struct rf_undo_entry rf_undo_parse(const char* line);

#ifdef __cplusplus
}
#endif
#endif
