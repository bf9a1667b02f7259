/* census.c: see census.h. */
#include "census.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "undo_entry.h"
#include "unix_sockets.h"

/* File times come from the coarse clock: allow one tick of the slowest kernel. */
#define COARSE_CLOCK_NS 10000000

void rf_census_began(struct rf_census* c, int64_t realtime_ns) {
  c->began_ns = realtime_ns - COARSE_CLOCK_NS;
}

void rf_census_begin(struct rf_census* c, int root, int undo_fd, const char* run_dir, const char* tmp_dir) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  memset(c, 0, sizeof *c);
  c->root = root;
  c->undo_fd = undo_fd;
  c->run_dir = run_dir;
  c->tmp_dir = tmp_dir;
  rf_census_began(c, t.tv_sec * 1000000000ll + t.tv_nsec);
}

void rf_census_end(struct rf_census* c) {
  for (size_t i = 0; i < c->named_count; ++i) free(c->named[i]);
  free(c->named);
  free(c->known);
  free(c->unlisted);
}

static int is_below(const char* path, const char* folder) {
  const size_t n = strlen(folder);
  return n > 0 && strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == 0);
}

static int grow(void** array, size_t count, size_t* room, size_t size) {
  if (count < *room) return 0;
  const size_t more = *room ? 2 * *room : 64;
  void* bigger = realloc(*array, more * size);
  if (!bigger) return -1;
  *array = bigger;
  *room = more;
  return 0;
}

/* "--out=/tmp/x", but not "/var/tmp/x". */
static int begins_path(const char* word, const char* at) {
  return at == word || strchr("=:,;@ \t\n\"'([{", at[-1]) != NULL;
}

static void name_below(struct rf_census* c, const char* word, const char* folder) {
  const size_t prefix = strlen(folder);
  for (const char* at = word; (at = strstr(at, folder)); at += prefix) {
    size_t n = strcspn(at, ":,; \n");
    while (n > prefix && at[n - 1] == '/') --n;
    if (n <= prefix || !begins_path(word, at)) continue;
    if (grow((void**)&c->named, c->named_count, &c->named_room, sizeof *c->named)) continue;
    char* copy = strndup(at, n);
    if (copy) c->named[c->named_count++] = copy;
  }
}

void rf_census_named(struct rf_census* c, const char* word) {
  name_below(c, word, "/tmp/");
  name_below(c, word, "/var/tmp/");
  if (c->watch) name_below(c, word, "/dev/shm/");
}

static int is_named(const struct rf_census* c, const char* path) {
  for (size_t i = 0; i < c->named_count; ++i)
    if (is_below(path, c->named[i])) return 1;
  return 0;
}

static int is_watched(const struct rf_census* c, const char* path) {
  if (strncmp(path, "/dev/shm/", 9) && strncmp(path, "/tmp/", 5) && strncmp(path, "/var/tmp/", 9)) return 0;
  return !is_below(path, c->run_dir) && !is_below(path, c->tmp_dir) && !strchr(path, '\n');
}

/* Writes all lines that are not on disk yet with one write, or none of them. */
static void write_unlisted(struct rf_census* c) {
  const off_t end = lseek(c->undo_fd, 0, SEEK_END);
  const ssize_t n = write(c->undo_fd, c->unlisted, c->unlisted_bytes);
  if (n == (ssize_t)c->unlisted_bytes)
    c->unlisted_bytes = 0;
  else if (n > 0 && end >= 0 && ftruncate(c->undo_fd, end))
    perror("undo list");
}

static void list(struct rf_census* c, const char* line, size_t bytes) {
  while (c->unlisted_room < c->unlisted_bytes + bytes)
    if (grow((void**)&c->unlisted, c->unlisted_room, &c->unlisted_room, 1)) return;
  memcpy(c->unlisted + c->unlisted_bytes, line, bytes);
  c->unlisted_bytes += bytes;
  write_unlisted(c);
}

enum held { HELD_OPEN, HELD_MAPPED, HELD_SOCKET };

static int is_temporary(const struct rf_census* c, const char* path, enum held how) {
  if (how == HELD_SOCKET) return 1;
  return strncmp(path, "/dev/shm/", 9) == 0 && (how == HELD_MAPPED || !c->watch);
}

/* 1: it has to be listed. A file that was only open when it was listed may be mapped by now. */
static int remember(struct rf_census* c, const struct rf_file_id* id, int temporary) {
  for (size_t i = 0; i < c->known_count; ++i) {
    if (!rf_same_file(&c->known[i].id, id)) continue;
    if (c->known[i].temporary || !temporary) return 0;
    c->known[i].temporary = 1;
    return 1;
  }
  if (grow((void**)&c->known, c->known_count, &c->known_room, sizeof *c->known)) return 0;
  c->known[c->known_count++] = (struct rf_census_file){*id, temporary};
  return 1;
}

/* `ino` is the inode that the descendant holds; 0: not known (a socket's file has another inode). */
static void consider(struct rf_census* c, const char* path, uint64_t ino, uid_t owner, enum held how) {
  struct statx st;
  if (!is_watched(c, path) || is_named(c, path)) return;
  if (rf_file_at(path, &st)) return;
  if (ino ? (!S_ISREG(st.stx_mode) || st.stx_ino != ino) : !S_ISSOCK(st.stx_mode)) return;
  const struct statx_timestamp* born = (st.stx_mask & STATX_BTIME) ? &st.stx_btime : &st.stx_ctime;
  if (born->tv_sec * 1000000000ll + born->tv_nsec < c->began_ns || st.stx_uid != owner) return;
  const struct rf_file_id id = rf_id_of_file(&st);
  const int temporary = is_temporary(c, path, how);
  if (!temporary && c->watch) return; /* a watched job's files are its own */
  if (!remember(c, &id, temporary)) return;

  char line[4352];
  const struct rf_undo_entry entry = {
      .kind = temporary ? RF_UNDO_FILE : RF_UNDO_LEFT_FILE, .file = id, .text = path};
  const size_t n = rf_undo_format(&entry, line, sizeof line);
  if (n) list(c, line, n);
}

static void look_at_maps(struct rf_census* c, int pid, uid_t owner) {
  char name[64], *line = NULL;
  size_t room = 0;
  snprintf(name, sizeof name, "/proc/%d/maps", pid);
  FILE* maps = fopen(name, "re");
  if (!maps) return;
  while (getline(&line, &room, maps) > 0) {
    char perms[8];
    unsigned long long ino;
    int at = 0;
    if (!strstr(line, " /dev/shm/") && !strstr(line, "/tmp/")) continue; /* skips most lines quickly */
    if (sscanf(line, "%*s %7s %*s %*s %llu %n", perms, &ino, &at) < 2 || !at || ino == 0) continue;
    if (perms[1] != 'w' || perms[3] != 's') continue; /* private or read-only: the process is not its maker */
    line[strcspn(line, "\n")] = 0;
    consider(c, line + at, ino, owner, HELD_MAPPED);
  }
  free(line);
  fclose(maps);
}

static void look_at_descriptors(struct rf_census* c, int pid, uid_t owner, struct rf_unix_sockets* sockets) {
  char folder[64], path[4096];
  snprintf(folder, sizeof folder, "/proc/%d/fd", pid);
  DIR* dir = opendir(folder);
  if (!dir) return;
  for (struct dirent* e; (e = readdir(dir));) {
    struct stat link, file;
    if (e->d_name[0] == '.') continue;
    const ssize_t n = readlinkat(dirfd(dir), e->d_name, path, sizeof path - 1);
    if (n <= 0) continue;
    path[n] = 0;
    unsigned long long socket;
    if (sscanf(path, "socket:[%llu]", &socket) == 1) {
      const char* bound = rf_unix_socket_path(sockets, pid, socket);
      if (bound) consider(c, bound, 0, owner, HELD_SOCKET);
      continue;
    }
    if (!is_watched(c, path)) continue;
    /* The link's own mode tells how the file was opened. */
    if (fstatat(dirfd(dir), e->d_name, &link, AT_SYMLINK_NOFOLLOW) || !(link.st_mode & S_IWUSR)) continue;
    if (fstatat(dirfd(dir), e->d_name, &file, 0) || !S_ISREG(file.st_mode)) continue;
    consider(c, path, file.st_ino, owner, HELD_OPEN);
  }
  closedir(dir);
}

/* A file that was made and abandoned between two looks is still there. */
static void look_at_own_shm(struct rf_census* c) {
  char path[4096];
  DIR* dir = opendir("/dev/shm");
  if (!dir) return;
  for (struct dirent* e; (e = readdir(dir));) {
    struct stat st;
    const int n = snprintf(path, sizeof path, "/dev/shm/%s", e->d_name);
    if (n < 0 || n >= (int)sizeof path || fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW)) continue;
    if (S_ISREG(st.st_mode)) consider(c, path, st.st_ino, st.st_uid, HELD_OPEN);
  }
  closedir(dir);
}

void rf_census_take_of(struct rf_census* c, const struct rf_proc* list, size_t n) {
  struct rf_unix_sockets sockets;
  rf_unix_sockets_begin(&sockets);
  for (size_t i = 0; i < n; ++i) {
    char path[64];
    struct stat st;
    if (list[i].state == 'Z') continue;
    snprintf(path, sizeof path, "/proc/%d", list[i].pid);
    if (stat(path, &st)) continue;
    /* In this order: a maker maps its file before it closes it, so one of the two is seen. */
    look_at_descriptors(c, list[i].pid, st.st_uid, &sockets);
    look_at_maps(c, list[i].pid, st.st_uid);
  }
  rf_unix_sockets_end(&sockets);
  if (c->own_shm) look_at_own_shm(c);
}

void rf_census_take(struct rf_census* c) {
  struct rf_proc* list;
  const size_t n = rf_descendants(c->root, &list);
  rf_census_take_of(c, list, n);
  free(list);
}
