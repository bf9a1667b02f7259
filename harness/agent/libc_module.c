/* libc_module: librankfault_libc.so, preloaded only if a plan has a fault or a trigger at a file operation.
 * It is in the path of every shell and signal handler, so it only asks the core whether it wants this path,
 * and forwards. Without the core it only forwards. */
#define _GNU_SOURCE
#include "harness/agent/libc_module.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/agent/sys.h"

#define EXPORTED __attribute__((visibility("default")))

/* ---- the next definitions, resolved before the first use ---- */

static int (*next_open)(const char*, int, ...);
static int (*next_open64)(const char*, int, ...);
static int (*next_openat)(int, const char*, int, ...);
static int (*next_openat64)(int, const char*, int, ...);
static int (*next_creat)(const char*, mode_t);
static int (*next_creat64)(const char*, mode_t);
static int (*next_fsync)(int);
static int (*next_fdatasync)(int);
static int (*next_rename)(const char*, const char*);
static int (*next_renameat)(int, const char*, int, const char*);
static int (*next_renameat2)(int, const char*, int, const char*, unsigned);
static int (*next_unlink)(const char*);
static int (*next_unlinkat)(int, const char*, int);
static ssize_t (*next_write)(int, const void*, size_t);
static ssize_t (*next_pwrite)(int, const void*, size_t, off_t);
static ssize_t (*next_pwrite64)(int, const void*, size_t, off_t);
static int (*next_close)(int);
static int (*next_shm_open)(const char*, int, mode_t);
static int (*next_shm_unlink)(const char*);
static FILE* (*next_fopen)(const char*, const char*);
static FILE* (*next_fopen64)(const char*, const char*);
static int (*next_mkstemp)(char*);
static int (*next_mkstemp64)(char*);
static int (*next_mkostemp)(char*, int);
static int (*next_mkostemp64)(char*, int);
static int (*next_ftruncate)(int, off_t);
static int (*next_ftruncate64)(int, off_t);

#define FIND(name) *(void**)(&next_##name) = dlsym(RTLD_NEXT, #name)
static void find_all(void) {
  FIND(open), FIND(open64), FIND(openat), FIND(openat64), FIND(creat), FIND(creat64);
  FIND(fsync), FIND(fdatasync), FIND(rename), FIND(renameat), FIND(renameat2), FIND(unlink), FIND(unlinkat);
  FIND(fopen), FIND(fopen64), FIND(mkstemp), FIND(mkstemp64), FIND(mkostemp), FIND(mkostemp64);
  FIND(write), FIND(pwrite), FIND(pwrite64), FIND(shm_open), FIND(shm_unlink), FIND(ftruncate),
      FIND(ftruncate64);
  RF_STORE((void**)(&next_close), dlsym(RTLD_NEXT, "close")); /* the last: all are resolved */
}
/* Constructors of other objects may run before ours. */
#define READY() \
  if (__builtin_expect(!RF_LOAD(&next_close), 0)) find_all()

/* ---- points ---- */

static const struct rf_core_table_v1* table(void) {
  const struct rf_core_table_v1* t = &rankfault_core_table_v1;
  return t && t->version == RF_CORE_TABLE_VERSION ? t : NULL;
}

/* The core notes in the record that file operations were watched. */
__attribute__((constructor(103))) static void at_load(void) {
  find_all();
  if (table()) table()->core->coverage(RF_LIB_LIBC, "libc", 0, RF_HOOK_PRELOAD, NULL);
}

/* Whether there is a core that records: it wants any path under /dev/shm. */
static int rf_core_listens(void) { return table() && table()->file_wanted(RF_OP_SHM_ATTACH, "/dev/shm/"); }

static int wanted(uint16_t op, const char* path) { return table() && path && table()->file_wanted(op, path); }

/* 1: make the call; 0: errno is set to the value that an action gave. */
static int enter_with(struct rf_call* c, uint16_t op, const char* path, uint64_t count, uint16_t flags,
                      const void* where) {
  memset(c, 0, sizeof(*c));
  c->op = op;
  c->flags = flags;
  c->path = path;
  c->count = count;
  c->where = where;
  if (table()->file_begin(c) != RF_DO_FAIL) return 1;
  const int code = c->fail_code ? c->fail_code : EIO;
  table()->file_end(c, code);
  errno = code;
  return 0;
}

int rf_point_enter(struct rf_call* c, uint16_t op, const char* path, uint64_t count, const void* where) {
  return enter_with(c, op, path, count, 0, where);
}

void rf_point_leave(struct rf_call* c, int failed) {
  const int error = errno;
  table()->file_end(c, failed ? error : 0);
  errno = error;
}

/* Makes a point around `call` if the core wants the path; else only the call. */
#define AT_POINT(type, op, path, count, call)                                                   \
  do {                                                                                          \
    const char* path_ = (path);                                                                 \
    if (!wanted((op), path_)) return call;                                                      \
    struct rf_call point_;                                                                      \
    if (!rf_point_enter(&point_, (op), path_, (count), __builtin_return_address(0))) return -1; \
    const type result_ = call;                                                                  \
    rf_point_leave(&point_, result_ < 0);                                                       \
    return result_;                                                                             \
  } while (0)

static uint16_t open_op(const char* path, int flags) {
  if (!path || strncmp(path, "/dev/shm/", 9) != 0) return RF_OP_FILE_OPEN;
  return flags & O_CREAT ? RF_OP_SHM_CREATE : RF_OP_SHM_ATTACH;
}

/* Writes `path` in `folder` as an absolute path to `to`; returns `path` if it cannot be determined. */
static const char* full_path(int folder, const char* path, char to[PATH_MAX]) {
  if (!path || path[0] == '/') return path;
  char link[64];
  if (folder == AT_FDCWD)
    strcpy(link, "/proc/self/cwd");
  else
    snprintf(link, sizeof(link), "/proc/self/fd/%d", folder);
  const long n = rf_sys6(SYS_readlinkat, AT_FDCWD, (long)link, (long)to, PATH_MAX - 1, 0, 0);
  if (n <= 0 || (size_t)n + strlen(path) + 2 > PATH_MAX) return path;
  to[n] = '/';
  strcpy(to + n + 1, path);
  return to;
}

static mode_t mode_of(int flags, va_list list) {
  return flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(list, unsigned) : 0;
}

static int opened(int fd, const char* path) {
  if (fd >= 0 && path && rf_core_listens()) rf_remember_path(fd, path);
  return fd;
}

static uint16_t how_opened(int flags) {
  const int access = flags & O_ACCMODE, reads = access != O_WRONLY && !(flags & O_PATH);
  return (uint16_t)((reads ? RF_OPEN_READS : 0) | (access != O_RDONLY ? RF_OPEN_WRITES : 0) |
                    (flags & O_TRUNC ? RF_OPEN_EMPTIES : 0));
}

/* The EXIT carries the file's inode and birth, which identify it: for a segment only if this call certainly
 * created it; for a file always, together with how it was opened. */
static void note_opened(struct rf_call* c, int fd, int flags) {
  struct statx st;
  c->where = NULL;
  c->count = 0;
  if (c->op == RF_OP_FILE_OPEN) c->flags = how_opened(flags);
  if (c->op != RF_OP_FILE_OPEN && (c->op != RF_OP_SHM_CREATE || !(flags & O_EXCL))) return;
  if (rf_sys6(SYS_statx, fd, (long)"", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, (long)&st, 0)) return;
  const int born = (st.stx_mask & STATX_BTIME) != 0;
  if (!born && c->op == RF_OP_SHM_CREATE) return;
  c->count = st.stx_ino;
  if (born)
    c->where = (const void*)(uintptr_t)((uint64_t)st.stx_btime.tv_sec * 1000000000u + st.stx_btime.tv_nsec);
}

/* For all ways to open a file: `next` forwards with the caller's own arguments. */
#define OPENING(folder, path, flags, call)                                            \
  do {                                                                                \
    READY();                                                                          \
    char full_[PATH_MAX];                                                             \
    const char* p_ = rf_core_listens() ? full_path((folder), (path), full_) : (path); \
    const uint16_t op_ = open_op(p_, (flags));                                        \
    if (!wanted(op_, p_)) return opened(call, p_);                                    \
    struct rf_call point_;                                                            \
    if (!rf_point_enter(&point_, op_, p_, 0, __builtin_return_address(0))) return -1; \
    const int fd_ = opened(call, p_);                                                 \
    if (fd_ >= 0) note_opened(&point_, fd_, (flags));                                 \
    rf_point_leave(&point_, fd_ < 0);                                                 \
    return fd_;                                                                       \
  } while (0)

#define WITH_MODE()                          \
  va_list list_;                             \
  va_start(list_, flags);                    \
  const mode_t mode = mode_of(flags, list_); \
  va_end(list_)

EXPORTED int open(const char* path, int flags, ...) {
  WITH_MODE();
  OPENING(AT_FDCWD, path, flags, next_open(path, flags, mode));
}
EXPORTED int open64(const char* path, int flags, ...) {
  WITH_MODE();
  OPENING(AT_FDCWD, path, flags, next_open64(path, flags, mode));
}
EXPORTED int openat(int folder, const char* path, int flags, ...) {
  WITH_MODE();
  OPENING(folder, path, flags, next_openat(folder, path, flags, mode));
}
EXPORTED int openat64(int folder, const char* path, int flags, ...) {
  WITH_MODE();
  OPENING(folder, path, flags, next_openat64(folder, path, flags, mode));
}
EXPORTED int creat(const char* path, mode_t mode) {
  OPENING(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, next_creat(path, mode));
}
EXPORTED int creat64(const char* path, mode_t mode) {
  OPENING(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, next_creat64(path, mode));
}

/* glibc's shm_open does not go through the PLT entry of `open`; its name has no folder. */
static const char* shm_path(const char* name, char to[PATH_MAX]) {
  while (name && *name == '/') ++name;
  if (!name || strlen(name) + sizeof("/dev/shm/") > PATH_MAX) return NULL;
  strcpy(to, "/dev/shm/");
  return strcat(to, name);
}
EXPORTED int shm_open(const char* name, int flags, mode_t mode) {
  char path[PATH_MAX];
  OPENING(AT_FDCWD, shm_path(name, path), flags, next_shm_open(name, flags, mode));
}
EXPORTED int shm_unlink(const char* name) {
  char path[PATH_MAX];
  READY();
  AT_POINT(int, RF_OP_SHM_UNLINK, shm_path(name, path), 0, next_shm_unlink(name));
}

/* The functions that a fortified caller uses for an open without a mode. */
EXPORTED int __open_2(const char* path, int flags) { OPENING(AT_FDCWD, path, flags, next_open(path, flags)); }
EXPORTED int __open64_2(const char* path, int flags) {
  OPENING(AT_FDCWD, path, flags, next_open64(path, flags));
}

/* The path is the template before the call and the final name after it. */
EXPORTED int mkstemp(char* path) { OPENING(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL, next_mkstemp(path)); }
EXPORTED int mkstemp64(char* path) {
  OPENING(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL, next_mkstemp64(path));
}
EXPORTED int mkostemp(char* path, int flags) {
  OPENING(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL, next_mkostemp(path, flags));
}
EXPORTED int mkostemp64(char* path, int flags) {
  OPENING(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL, next_mkostemp64(path, flags));
}

/* stdio opens files inside libc; its writes stay unseen. */
static int flags_of_mode(const char* mode) {
  const int both = strchr(mode, '+') != NULL;
  if (mode[0] == 'r') return both ? O_RDWR : O_RDONLY;
  return (both ? O_RDWR : O_WRONLY) | O_CREAT | (mode[0] == 'w' ? O_TRUNC : 0);
}
static FILE* opened_stream(FILE* f, const char* path) {
  if (f) opened(fileno(f), path);
  return f;
}
#define OPENING_STREAM(call)                                                            \
  do {                                                                                  \
    READY();                                                                            \
    char full_[PATH_MAX];                                                               \
    const char* p_ = rf_core_listens() ? full_path(AT_FDCWD, path, full_) : path;       \
    const uint16_t op_ = open_op(p_, flags_of_mode(mode));                              \
    if (!wanted(op_, p_)) return opened_stream(call, p_);                               \
    struct rf_call point_;                                                              \
    if (!rf_point_enter(&point_, op_, p_, 0, __builtin_return_address(0))) return NULL; \
    FILE* stream_ = opened_stream(call, p_);                                            \
    if (stream_) note_opened(&point_, fileno(stream_), flags_of_mode(mode));            \
    rf_point_leave(&point_, !stream_);                                                  \
    return stream_;                                                                     \
  } while (0)
EXPORTED FILE* fopen(const char* path, const char* mode) { OPENING_STREAM(next_fopen(path, mode)); }
EXPORTED FILE* fopen64(const char* path, const char* mode) { OPENING_STREAM(next_fopen64(path, mode)); }

/* ---- operations on a descriptor whose path is remembered ---- */

const char* rf_wanted_path(uint16_t op, int fd) {
  const char* path = rf_path_of(fd);
  return path && wanted(op, path) && rf_is_file(fd) ? path : NULL;
}

EXPORTED int fsync(int fd) {
  READY();
  AT_POINT(int, RF_OP_FILE_FSYNC, rf_wanted_path(RF_OP_FILE_FSYNC, fd), 0, next_fsync(fd));
}
EXPORTED int fdatasync(int fd) {
  READY();
  AT_POINT(int, RF_OP_FILE_FSYNC, rf_wanted_path(RF_OP_FILE_FSYNC, fd), 0, next_fdatasync(fd));
}
/* `call` writes `taken` bytes: all of them, unless an action reduces the number. The EXIT has the number. */
#define WRITING(fd, bytes, call)                                                   \
  do {                                                                             \
    READY();                                                                       \
    const char* path_ = rf_wanted_path(RF_OP_FILE_WRITE, (fd));                    \
    size_t taken = (bytes);                                                        \
    if (!path_) return call;                                                       \
    struct rf_call point_;                                                         \
    if (!enter_with(&point_, RF_OP_FILE_WRITE, path_, taken, RF_CALL_CAN_BE_SHORT, \
                    __builtin_return_address(0)))                                  \
      return -1;                                                                   \
    taken = point_.count;                                                          \
    const ssize_t result_ = call;                                                  \
    if (result_ >= 0) point_.count = (uint64_t)result_;                            \
    rf_point_leave(&point_, result_ < 0);                                          \
    return result_;                                                                \
  } while (0)

EXPORTED ssize_t write(int fd, const void* data, size_t bytes) {
  WRITING(fd, bytes, next_write(fd, data, taken));
}
EXPORTED ssize_t pwrite(int fd, const void* data, size_t bytes, off_t at) {
  WRITING(fd, bytes, next_pwrite(fd, data, taken, at));
}
EXPORTED ssize_t pwrite64(int fd, const void* data, size_t bytes, off_t at) {
  WRITING(fd, bytes, next_pwrite64(fd, data, taken, at));
}
/* Setting the size of a file is a write to it. */
EXPORTED int ftruncate(int fd, off_t bytes) {
  READY();
  AT_POINT(int, RF_OP_FILE_WRITE, rf_wanted_path(RF_OP_FILE_WRITE, fd), (uint64_t)bytes,
           next_ftruncate(fd, bytes));
}
EXPORTED int ftruncate64(int fd, off_t bytes) {
  READY();
  AT_POINT(int, RF_OP_FILE_WRITE, rf_wanted_path(RF_OP_FILE_WRITE, fd), (uint64_t)bytes,
           next_ftruncate64(fd, bytes));
}

static int close_and_forget(int fd) {
  rf_forget_path(fd);
  return next_close(fd);
}
EXPORTED int close(int fd) {
  READY();
  char path[RF_PATH_BYTES];
  const char* known = rf_path_of(fd);
  if (!known) return next_close(fd);
  strcpy(path, known); /* the table's entry may be reused before the exit is recorded */
  AT_POINT(int, RF_OP_FILE_CLOSE, path, 0, close_and_forget(fd));
}

/* ---- names ---- */

static uint16_t unlink_op(const char* path) {
  return path && strncmp(path, "/dev/shm/", 9) == 0 ? RF_OP_SHM_UNLINK : RF_OP_FILE_UNLINK;
}
static const char* wide_path(int folder, const char* path, char to[PATH_MAX]) {
  return rf_core_listens() ? full_path(folder, path, to) : path;
}

/* A rename has two paths: the point is at the old one (the temporary file), unless an action waits for the
 * new one only. */
static const char* rf_rename_path(const char* from, const char* to) {
  return wanted(RF_OP_FILE_RENAME, from) ? from : to;
}

EXPORTED int rename(const char* from, const char* to) {
  READY();
  char full[PATH_MAX];
  AT_POINT(int, RF_OP_FILE_RENAME, rf_rename_path(wide_path(AT_FDCWD, from, full), to), 0,
           next_rename(from, to));
}
EXPORTED int renameat(int a, const char* from, int b, const char* to) {
  READY();
  char full[PATH_MAX];
  AT_POINT(int, RF_OP_FILE_RENAME, rf_rename_path(wide_path(a, from, full), to), 0,
           next_renameat(a, from, b, to));
}
EXPORTED int renameat2(int a, const char* from, int b, const char* to, unsigned flags) {
  READY();
  char full[PATH_MAX];
  AT_POINT(int, RF_OP_FILE_RENAME, rf_rename_path(wide_path(a, from, full), to), 0,
           next_renameat2(a, from, b, to, flags));
}
EXPORTED int unlink(const char* path) {
  READY();
  char full[PATH_MAX];
  const char* p = wide_path(AT_FDCWD, path, full);
  AT_POINT(int, unlink_op(p), p, 0, next_unlink(path));
}
EXPORTED int unlinkat(int folder, const char* path, int flags) {
  READY();
  char full[PATH_MAX];
  const char* p = wide_path(folder, path, full);
  AT_POINT(int, unlink_op(p), p, 0, next_unlinkat(folder, path, flags));
}
