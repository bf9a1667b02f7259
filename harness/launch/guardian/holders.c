/* holders.c: see holders.h. */
#include "holders.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tree.h"

static int has_open(int pid, uint64_t dev, uint64_t ino) {
  char folder[64];
  int found = 0;
  snprintf(folder, sizeof folder, "/proc/%d/fd", pid);
  DIR* dir = opendir(folder);
  if (!dir) return 0;
  for (struct dirent* e; !found && (e = readdir(dir));) {
    struct stat st;
    if (e->d_name[0] != '.' && fstatat(dirfd(dir), e->d_name, &st, 0) == 0 && st.st_dev == dev &&
        st.st_ino == ino)
      found = 1;
  }
  closedir(dir);
  return found;
}

static int has_mapped(int pid, const char* path, uint64_t ino) {
  char name[64], *line = NULL;
  size_t room = 0;
  int found = 0;
  snprintf(name, sizeof name, "/proc/%d/maps", pid);
  FILE* maps = fopen(name, "re");
  while (maps && !found && getline(&line, &room, maps) > 0) {
    unsigned long long mapped;
    int at = 0;
    if (sscanf(line, "%*s %*s %*s %*s %llu %n", &mapped, &at) < 1 || !at || mapped != ino) continue;
    line[strcspn(line, "\n")] = 0;
    found = strcmp(line + at, path) == 0;
  }
  free(line);
  if (maps) fclose(maps);
  return found;
}

int rf_holder_outside(int root, const char* path, uint64_t dev, uint64_t ino) {
  struct rf_proc* ours = NULL;
  const size_t n = root ? rf_descendants(root, &ours) : 0;
  int holder = 0;
  DIR* dir = opendir("/proc");
  for (struct dirent* e; dir && !holder && (e = readdir(dir));) {
    const int pid = atoi(e->d_name);
    int is_ours = pid <= 0 || pid == root || pid == getpid();
    for (size_t i = 0; !is_ours && i < n; ++i) is_ours = ours[i].pid == pid;
    if (!is_ours && (has_open(pid, dev, ino) || has_mapped(pid, path, ino))) holder = pid;
  }
  if (dir) closedir(dir);
  free(ours);
  return holder;
}
