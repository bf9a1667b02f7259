// run_files: the files that the job made below its own TMPDIR, and may therefore be harmed though nobody
// holds them open: checkpoints.
//
// Each is opened below the directory without following a symbolic link or leaving the file system (but for
// those of the job's own), and what
// is done is done to that descriptor: what is harmed is what was looked at.
#pragma once

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/time.h"
#include "harness/base/unique_fd.h"

namespace rankfault {

struct RunFile {
  std::string path;  // absolute
  UniqueFd folder;   // that holds its name
  UniqueFd file;     // open for reading and writing
};

// Regular files of this user with one name only, made since the run began, whose name below `tmp` matches.
// `seen_from`: where the job has small file systems of its own below `tmp`, the root as its guardian sees it.
std::vector<RunFile> run_files(const std::string& tmp, const std::string& pattern, TimeNs run_begin,
                               const std::string& seen_from = "");

Status truncate_file(RunFile&, int64_t size);        // refused when it has no more than that
Status flip_bit(RunFile&, int64_t offset, int bit);  // of the byte there; from the end when negative
Status unlink_file(RunFile&);

}  // namespace rankfault
