/* holders.c: see holders.h. */
#include "holders.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tree.h"

static void look_at_descriptors(int pid, struct rf_held* files, size_t n) {
  char folder[64];
  snprintf(folder, sizeof folder, "/proc/%d/fd", pid);
  DIR* dir = opendir(folder);
  if (!dir) return;
  for (struct dirent* e; (e = readdir(dir));) {
    struct stat st;
    if (e->d_name[0] == '.' || fstatat(dirfd(dir), e->d_name, &st, 0)) continue;
    for (size_t i = 0; i < n; ++i)
      if (files[i].id.dev == st.st_dev && files[i].id.ino == st.st_ino) files[i].holder = pid;
  }
  closedir(dir);
}

static void look_at_maps(int pid, struct rf_held* files, size_t n) {
  char name[64], *line = NULL;
  size_t room = 0;
  snprintf(name, sizeof name, "/proc/%d/maps", pid);
  FILE* maps = fopen(name, "re");
  while (maps && getline(&line, &room, maps) > 0) {
    unsigned long long mapped;
    int at = 0;
    if (sscanf(line, "%*s %*s %*s %*s %llu %n", &mapped, &at) < 1 || !at || !mapped) continue;
    line[strcspn(line, "\n")] = 0;
    for (size_t i = 0; i < n; ++i)
      if (files[i].id.ino == mapped && strcmp(line + at, files[i].path) == 0) files[i].holder = pid;
  }
  free(line);
  if (maps) fclose(maps);
}

void rf_find_holders(int root, struct rf_held* files, size_t n) {
  struct rf_proc* ours = NULL;
  for (size_t i = 0; i < n; ++i) files[i].holder = 0;
  const size_t count = n && root ? rf_descendants(root, &ours) : 0;
  DIR* dir = n ? opendir("/proc") : NULL;
  for (struct dirent* e; dir && (e = readdir(dir));) {
    const int pid = atoi(e->d_name);
    int is_ours = pid <= 0 || pid == root || pid == getpid();
    for (size_t i = 0; !is_ours && i < count; ++i) is_ours = ours[i].pid == pid;
    if (is_ours) continue;
    look_at_descriptors(pid, files, n);
    look_at_maps(pid, files, n);
  }
  if (dir) closedir(dir);
  free(ours);
}
