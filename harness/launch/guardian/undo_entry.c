/* undo_entry.c: see undo_entry.h. */
#include "undo_entry.h"

#include <stdio.h>
#include <string.h>

static const char* const kWords[] = {
    [RF_UNDO_UNKNOWN] = "",
    [RF_UNDO_FILE] = "remove-file",
    [RF_UNDO_LEFT_FILE] = "left-file",
    [RF_UNDO_DIR] = "remove-dir",
    [RF_UNDO_MODE] = "restore-mode",
    [RF_UNDO_STOP] = "continue",
    [RF_UNDO_SEGMENT] = "remove-segment",
    [RF_UNDO_LEFT] = "left-object",
};

typedef unsigned long long number;

size_t rf_undo_format(const struct rf_undo_entry* e, char* line, size_t room) {
  const char* word = kWords[e->kind];
  int n = -1;
  switch (e->kind) {
    case RF_UNDO_FILE:
    case RF_UNDO_LEFT_FILE:
      n = snprintf(line, room, "%s %llu %llu %llu %s\n", word, (number)e->file.dev, (number)e->file.ino,
                   (number)e->file.born, e->text);
      break;
    case RF_UNDO_MODE:
      n = snprintf(line, room, "%s %llu %llu %o %s\n", word, (number)e->file.dev, (number)e->file.ino,
                   e->mode, e->text);
      break;
    case RF_UNDO_STOP:
      n = snprintf(line, room, "%s %d %llu\n", word, e->pid, e->start);
      break;
    case RF_UNDO_SEGMENT:
      n = snprintf(line, room, "%s %d %d %lld\n", word, e->segment, e->maker, e->changed);
      break;
    case RF_UNDO_DIR:
    case RF_UNDO_LEFT:
      n = snprintf(line, room, "%s %s\n", word, e->text);
      break;
    case RF_UNDO_UNKNOWN:
      break;
  }
  return n > 0 && (size_t)n < room ? (size_t)n : 0;
}

/* Returns the kind of the line by its first word. `rest` is the text after that word. */
static enum rf_undo_kind kind_of(const char* line, const char** rest) {
  for (int kind = RF_UNDO_FILE; kind <= RF_UNDO_LEFT; ++kind) {
    const size_t n = strlen(kWords[kind]);
    *rest = line + n + 1;
    if (strncmp(line, kWords[kind], n) == 0 && line[n] == ' ') return (enum rf_undo_kind)kind;
  }
  return RF_UNDO_UNKNOWN;
}

struct rf_undo_entry rf_undo_parse(const char* line) {
  struct rf_undo_entry e = {.kind = RF_UNDO_UNKNOWN};
  const char* rest = NULL;
  const enum rf_undo_kind kind = kind_of(line, &rest);
  number dev = 0, ino = 0, born = 0;
  int at = 0, whole = 0;
  switch (kind) {
    case RF_UNDO_FILE:
    case RF_UNDO_LEFT_FILE:
      whole = sscanf(rest, "%llu %llu %llu %n", &dev, &ino, &born, &at) >= 3 && at;
      break;
    case RF_UNDO_MODE:
      whole = sscanf(rest, "%llu %llu %o %n", &dev, &ino, &e.mode, &at) >= 3 && at;
      break;
    case RF_UNDO_STOP:
      whole = sscanf(rest, "%d %llu", &e.pid, &e.start) == 2;
      break;
    case RF_UNDO_SEGMENT:
      whole = sscanf(rest, "%d %d %lld", &e.segment, &e.maker, &e.changed) == 3;
      break;
    case RF_UNDO_DIR:
    case RF_UNDO_LEFT:
      whole = 1;
      break;
    case RF_UNDO_UNKNOWN:
      break;
  }
  if (!whole) return e;
  e.kind = kind;
  e.file = (struct rf_file_id){dev, ino, born};
  e.text = rest + at;
  return e;
}
