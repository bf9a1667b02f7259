/* undo.c: see undo.h. What differs from its record is not the job's and is left. */
#include "undo.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "holders.h"
#include "remove_tree.h"
#include "tree.h"
#include "undo_entry.h"

static void say(struct rf_undo_result* result, const char* word, const char* text) {
  char* all = NULL;
  if (asprintf(&all, "%s%s %s\n", result->lines ? result->lines : "", word, text) < 0) return;
  free(result->lines);
  result->lines = all;
}

static void failed(struct rf_undo_result* result, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

static void failed(struct rf_undo_result* result, const char* format, ...) {
  char* text = NULL;
  va_list args;
  va_start(args, format);
  if (vasprintf(&text, format, args) < 0) text = NULL;
  va_end(args);
  ++result->failed;
  if (text) say(result, "failed", text);
  free(text);
}

static int still_is(const char* path, uint64_t dev, uint64_t ino, struct stat* st) {
  return lstat(path, st) == 0 && st->st_dev == dev && st->st_ino == ino;
}

static int is_still_there(const struct rf_held* file) {
  struct statx st;
  if (rf_file_at(file->path, &st) || S_ISDIR(st.stx_mode)) return 0;
  const struct rf_file_id now = rf_id_of_file(&st);
  return rf_same_file(&file->id, &now);
}

/* Reads a line of this kind. Returns 1 if its file is still the recorded one, else 0. */
static int parse_file(const char* line, enum rf_undo_kind kind, struct rf_held* file) {
  const struct rf_undo_entry entry = rf_undo_parse(line);
  if (entry.kind != kind) return 0;
  *file = (struct rf_held){.path = entry.text, .id = entry.file};
  return is_still_there(file);
}

static void remove_files(const struct rf_undo_run* run, char** lines, size_t n,
                         struct rf_undo_result* result) {
  struct rf_held* files = calloc(n ? n : 1, sizeof *files);
  size_t count = 0;
  for (size_t i = 0; files && i < n; ++i)
    if (parse_file(lines[i], RF_UNDO_FILE, &files[count])) ++count;
  if (!run->leave) rf_find_holders(run->root, files, count);
  for (size_t i = 0; i < count; ++i) {
    const struct rf_held* file = &files[i];
    if (!is_still_there(file)) continue;
    if (run->leave || (run->watch && file->holder))
      say(result, "left", file->path);
    else if (file->holder)
      failed(result, "left %s: process %d, which is not of this run, has it open", file->path, file->holder);
    else if (unlink(file->path) && errno != ENOENT)
      failed(result, "remove %s: %s", file->path, strerror(errno));
    else
      ++result->undone;
  }
  free(files);
}

/* Reports the files that stay. A watched job's files are left alone, and no user expects rankfault to
 * remove them. */
static void report_left_files(const struct rf_undo_run* run, char** lines, size_t n,
                              struct rf_undo_result* result) {
  struct rf_held file;
  for (size_t i = n; !run->watch && i-- > 0;) /* the list is reversed: the first one first */
    if (parse_file(lines[i], RF_UNDO_LEFT_FILE, &file)) say(result, "left", file.path);
}

static int is_below(const char* path, const char* folder) {
  const size_t n = strlen(folder);
  return n > 1 && strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == 0);
}

static void remove_dir(const struct rf_undo_run* run, const char* path, struct rf_undo_result* result) {
  struct stat st;
  if (strstr(path, "/../") || lstat(path, &st)) return;
  if (strcmp(path, run->run_dir) == 0 || (!is_below(path, run->run_dir) && !is_below(path, run->tmp_dir))) {
    failed(result, "left %s: not a directory of this run", path);
    return;
  }
  if (is_below(path, run->tmp_dir)) {
    struct stat tmp;
    if (!still_is(run->tmp_dir, run->tmp_dev, run->tmp_ino, &tmp)) return; /* it is another run's by now */
  }
  if (rf_remove_tree(path))
    failed(result, "remove %s: %s", path, strerror(errno));
  else
    ++result->undone;
}

static void restore_mode(const struct rf_undo_entry* entry, struct rf_undo_result* result) {
  const char* path = entry->text;
  const unsigned mode = entry->mode & 07777;
  struct stat st;
  if (!still_is(path, entry->file.dev, entry->file.ino, &st) || !S_ISREG(st.st_mode) ||
      (st.st_mode & 07777) == mode)
    return;
  if (chmod(path, mode))
    failed(result, "restore the mode of %s: %s", path, strerror(errno));
  else
    ++result->undone;
}

static void continue_process(const struct rf_undo_entry* entry, struct rf_undo_result* result) {
  struct rf_proc now;
  const int fd = (int)syscall(SYS_pidfd_open, entry->pid, 0);
  if (fd < 0) return;
  if (rf_proc_read(entry->pid, &now) == 0 && now.start == entry->start && now.state == 'T' &&
      syscall(SYS_pidfd_send_signal, fd, SIGCONT, NULL, 0) == 0)
    ++result->undone;
  close(fd);
}

/* Only System V segments can be removed: the kernel keeps the maker of a segment. */
static void remove_segment(const struct rf_undo_run* run, const struct rf_undo_entry* entry,
                           struct rf_undo_result* result) {
  const int id = entry->segment;
  struct shmid_ds now;
  if (run->watch || run->leave || shmctl(id, IPC_STAT, &now)) return;
  if (now.shm_cpid != entry->maker || now.shm_ctime != entry->changed) return; /* another one by now */
  if (now.shm_nattch > 0)
    failed(result, "left System V segment %d: processes that are not of this run have it mapped", id);
  else if (shmctl(id, IPC_RMID, NULL) && errno != EINVAL && errno != EIDRM)
    failed(result, "remove System V segment %d: %s", id, strerror(errno));
  else
    ++result->undone;
}

static void undo_line(const struct rf_undo_run* run, const char* line, struct rf_undo_result* result) {
  const struct rf_undo_entry entry = rf_undo_parse(line);
  if (run->only_dirs && entry.kind != RF_UNDO_DIR) return;
  switch (entry.kind) {
    case RF_UNDO_DIR:
      remove_dir(run, entry.text, result);
      break;
    case RF_UNDO_SEGMENT:
      remove_segment(run, &entry, result);
      break;
    case RF_UNDO_LEFT:
      say(result, "left", entry.text);
      break;
    case RF_UNDO_MODE:
      restore_mode(&entry, result);
      break;
    case RF_UNDO_STOP:
      continue_process(&entry, result);
      break;
    case RF_UNDO_FILE:
    case RF_UNDO_LEFT_FILE:
      break; /* all files together: rf_undo() */
    case RF_UNDO_UNKNOWN:
      failed(result, "unknown line in the undo list: %s", line);
      break;
  }
}

/* The whole lines of the list, the last first; a torn one (no \n) was never acted upon. */
static char** split(char* text, size_t bytes, size_t* n) {
  char** lines = calloc(bytes ? bytes : 1, sizeof *lines);
  char* end = bytes ? memrchr(text, '\n', bytes) : NULL;
  *n = 0;
  while (lines && end) {
    *end = 0;
    char* before = end > text ? memrchr(text, '\n', (size_t)(end - text)) : NULL;
    lines[(*n)++] = before ? before + 1 : text;
    end = before;
  }
  return lines;
}

/* The list as it is on disk, and what the disk refused. */
static char* read_list(const struct rf_undo_run* run, size_t* bytes, struct rf_undo_result* result) {
  char *all = NULL, buffer[4096];
  FILE* whole = open_memstream(&all, bytes);
  if (!whole) {
    failed(result, "read %s: %s", run->undo_path, strerror(errno));
    return NULL;
  }
  FILE* file = fopen(run->undo_path, "re");
  if (!file && errno != ENOENT) failed(result, "read %s: %s", run->undo_path, strerror(errno));
  for (size_t n; file && (n = fread(buffer, 1, sizeof buffer, file)) > 0;) fwrite(buffer, 1, n, whole);
  if (file) fclose(file);
  if (run->unlisted) fwrite(run->unlisted, 1, run->unlisted_bytes, whole);
  fclose(whole);
  return all;
}

void rf_undo(const struct rf_undo_run* run, struct rf_undo_result* result) {
  size_t bytes = 0, n = 0;
  memset(result, 0, sizeof *result);
  char* text = read_list(run, &bytes, result);
  char** lines = split(text, text ? bytes : 0, &n);
  /* Modes and stops first: they depend on nothing else, and removing files needs one look at all
   * processes. */
  for (size_t i = 0; i < n; ++i) undo_line(run, lines[i], result);
  if (!run->only_dirs) {
    remove_files(run, lines, n, result);
    report_left_files(run, lines, n, result);
  }
  free(lines);
  free(text);
}
