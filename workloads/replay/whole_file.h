/* whole_file.h: exchanges numbers of the ranks through files. A rename makes a file visible only when whole.
 */
#ifndef RANKFAULT_WORKLOADS_REPLAY_WHOLE_FILE_H
#define RANKFAULT_WORKLOADS_REPLAY_WHOLE_FILE_H

#include <sys/stat.h>

#include "state.h"

/* Returns whether the file was left. */
static inline int replay_leave_file(const struct replay_run* run, const char* name, const void* data,
                                    size_t size) {
  char place[4096], unfinished[4200];
  mkdir(run->store, 0700); /* the first rank makes it; a failure shows in the first write */
  snprintf(place, sizeof place, "%s/%s", run->store, name);
  snprintf(unfinished, sizeof unfinished, "%s.unfinished", place);
  FILE* file = fopen(unfinished, "wb");
  if (!file) return 0;
  const int is_written = fwrite(data, 1, size, file) == size;
  return (fclose(file) == 0) && is_written && rename(unfinished, place) == 0;
}

/* Returns whether the file was there before a time. */
static inline int replay_find_file(const struct replay_run* run, const char* name, void* data, size_t size,
                                   double until) {
  char place[4096];
  FILE* file;
  snprintf(place, sizeof place, "%s/%s", run->store, name);
  while (!(file = fopen(place, "rb"))) {
    if (replay_seconds() > until) return 0;
    replay_doze(1000);
  }
  const int is_read = fread(data, 1, size, file) == size;
  fclose(file);
  return is_read;
}

#endif
