/* remove_tree.c: see remove_tree.h. */
#include "remove_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int empty_dir(int fd, dev_t dev, int* first_error) {
  struct stat st;
  DIR* dir = fstat(fd, &st) == 0 && st.st_dev == dev ? fdopendir(fd) : NULL;
  if (!dir) {
    if (!*first_error) *first_error = errno ? errno : EXDEV;
    close(fd);
    return -1;
  }
  fchmod(fd, 0700); /* the job may have removed our own permission */
  for (struct dirent* e; (e = readdir(dir));) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    if (unlinkat(dirfd(dir), e->d_name, 0) == 0) continue;
    const int child = openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (child >= 0) empty_dir(child, dev, first_error);
    if (unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR) && errno != ENOENT && !*first_error)
      *first_error = errno;
  }
  closedir(dir);
  return 0;
}

int rf_remove_tree(const char* path) {
  struct stat st;
  int first_error = 0;
  const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT ? 0 : -1;
  if (fstat(fd, &st)) return -1;
  empty_dir(fd, st.st_dev, &first_error);
  if (rmdir(path) == 0 || errno == ENOENT) return 0;
  if (first_error) errno = first_error;
  return -1;
}
