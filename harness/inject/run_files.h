// run_files: the files that the job made below its own TMPDIR, which faults may change although no process
// holds them open: checkpoints.
//
// Each file is opened below the directory without following a symbolic link or leaving the file system
// (except into the job's own file systems). The fault acts on that descriptor, so it changes exactly the file
// that was checked.
#pragma once

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/time.h"
#include "harness/base/unique_fd.h"

namespace rankfault {

struct RunFile {
  std::string path;  // absolute
  UniqueFd folder;   // the folder that holds its name
  UniqueFd file;     // open for reading and writing
};

// Regular files of this user that have only one name, were made since the run began, and match the pattern by
// their name below `tmp`. `seen_from`: where the job has small file systems of its own below `tmp`, the root
// as its guardian sees it.
std::vector<RunFile> run_files(const std::string& tmp, const std::string& pattern, Instant run_begin,
                               const std::string& seen_from = "");

Status truncate_file(RunFile&, int64_t size);        // refused when it is not longer than that
Status flip_bit(RunFile&, int64_t offset, int bit);  // flips a bit of the byte at `offset`, which counts from
                                                     // the end when negative
Status unlink_file(RunFile&);

}  // namespace rankfault
