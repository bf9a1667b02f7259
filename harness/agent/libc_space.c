/* libc_space.c: calls that allocate the space of a file before it is written; these are separate operations,
 * not writes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>

#include "harness/agent/libc_module.h"

#define EXPORTED __attribute__((visibility("default")))

typedef int (*take_space)(int, off_t, off_t);
typedef int (*take_space_as)(int, int, off_t, off_t);

/* Resolved at each call, because allocating space is rare. */
static void* next(const char* name) { return dlsym(RTLD_NEXT, name); }

/* These return -1 and set errno. */
static int taking_as(take_space_as call, int fd, int mode, off_t at, off_t bytes, const void* where) {
  const char* path = rf_wanted_path(RF_OP_FILE_ALLOCATE, fd);
  struct rf_call point;
  if (!path) return call(fd, mode, at, bytes);
  if (!rf_point_enter(&point, RF_OP_FILE_ALLOCATE, path, (uint64_t)bytes, where)) return -1;
  const int result = call(fd, mode, at, bytes);
  rf_point_leave(&point, result < 0);
  return result;
}

/* These return the error and do not change errno. */
static int taking(take_space call, int fd, off_t at, off_t bytes, const void* where) {
  const char* path = rf_wanted_path(RF_OP_FILE_ALLOCATE, fd);
  const int before = errno;
  struct rf_call point;
  int error = 0;
  if (!path) return call(fd, at, bytes);
  if (rf_point_enter(&point, RF_OP_FILE_ALLOCATE, path, (uint64_t)bytes, where)) {
    error = errno = call(fd, at, bytes);
    rf_point_leave(&point, error != 0);
  } else {
    error = errno;
  }
  errno = before;
  return error;
}

#define CALLER __builtin_return_address(0)

EXPORTED int fallocate(int fd, int mode, off_t at, off_t bytes) {
  return taking_as((take_space_as)next("fallocate"), fd, mode, at, bytes, CALLER);
}
EXPORTED int fallocate64(int fd, int mode, off_t at, off_t bytes) {
  return taking_as((take_space_as)next("fallocate64"), fd, mode, at, bytes, CALLER);
}
EXPORTED int posix_fallocate(int fd, off_t at, off_t bytes) {
  return taking((take_space)next("posix_fallocate"), fd, at, bytes, CALLER);
}
EXPORTED int posix_fallocate64(int fd, off_t at, off_t bytes) {
  return taking((take_space)next("posix_fallocate64"), fd, at, bytes, CALLER);
}
