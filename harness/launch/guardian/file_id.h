/* file_id.h: what distinguishes a file from a later one of the same name. Device and inode alone do not:
 * ext4 reuses an inode number for the next file at once. */
#ifndef RANKFAULT_GUARDIAN_FILE_ID_H
#define RANKFAULT_GUARDIAN_FILE_ID_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

struct rf_file_id {
  uint64_t dev, ino;
  uint64_t born; /* CLOCK_REALTIME, ns; 0 if the file system does not keep it */
};

static inline struct rf_file_id rf_id_of_file(const struct statx* st) {
  const int kept = (st->stx_mask & STATX_BTIME) != 0;
  struct rf_file_id id = {makedev(st->stx_dev_major, st->stx_dev_minor), st->stx_ino, 0};
  if (kept) id.born = (uint64_t)st->stx_btime.tv_sec * 1000000000u + st->stx_btime.tv_nsec;
  return id;
}

static inline int rf_same_file(const struct rf_file_id* a, const struct rf_file_id* b) {
  return a->dev == b->dev && a->ino == b->ino && a->born == b->born;
}

/* 0 when there is something at `path`; does not follow a link. */
static inline int rf_file_at(const char* path, struct statx* st) {
  return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, st);
}

#endif
