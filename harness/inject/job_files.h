// job_files: the files on this host that are the job's own, so that a fault may change them.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "harness/base/time.h"

namespace rankfault {

struct JobFile {
  std::string path;
  uint64_t dev = 0, ino = 0;
  uint32_t mode = 0;
  int64_t size = 0;
};

// Whether the file was made since then, by its birth time or, if the file system keeps none, its last change.
bool made_since(const struct statx&, Instant run_begin);

// Files that match the glob, were made since the run began, and are held (open or mapped) by a descendant of
// the guardian and by no other process. All other files are left alone.
std::vector<JobFile> job_files(const std::string& glob, int guardian_pid, Instant run_begin);

}  // namespace rankfault
