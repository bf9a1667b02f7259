/* unix_sockets.c: see unix_sockets.h. */
#include "unix_sockets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void rf_unix_sockets_begin(struct rf_unix_sockets* s) { memset(s, 0, sizeof *s); }

void rf_unix_sockets_end(struct rf_unix_sockets* s) {
  free(s->entries);
  rf_unix_sockets_begin(s);
}

static void read_table(struct rf_unix_sockets* s, int pid) {
  char name[64], line[512];
  size_t room = 0;
  snprintf(name, sizeof name, "/proc/%d/net/unix", pid);
  FILE* file = fopen(name, "re");
  s->count = 0;
  while (file && fgets(line, sizeof line, file)) {
    struct rf_unix_socket entry;
    if (sscanf(line, "%*s %*s %*s %*s %*s %*s %llu %107s", &entry.ino, entry.path) != 2) continue;
    if (entry.path[0] != '/') continue; /* unbound or abstract */
    if (s->count == room) {
      room = room ? 2 * room : 64;
      struct rf_unix_socket* more = realloc(s->entries, room * sizeof *more);
      if (!more) break;
      s->entries = more;
    }
    s->entries[s->count++] = entry;
  }
  if (file) fclose(file);
}

const char* rf_unix_socket_path(struct rf_unix_sockets* s, int pid, unsigned long long ino) {
  char name[64], ns[64];
  snprintf(name, sizeof name, "/proc/%d/ns/net", pid);
  const ssize_t n = readlink(name, ns, sizeof ns - 1);
  if (n <= 0) return NULL;
  ns[n] = 0;
  if (strcmp(ns, s->ns)) {
    rf_unix_sockets_end(s);
    strcpy(s->ns, ns);
    read_table(s, pid);
  }
  for (size_t i = 0; i < s->count; ++i)
    if (s->entries[i].ino == ino) return s->entries[i].path;
  return NULL;
}
