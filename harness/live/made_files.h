// made_files: the files that the ranks made in /dev/shm according to their flight records.
//
// The guardian sees a file while a process of the job holds it. A file that is made, closed and abandoned
// between two looks of the guardian appears in the records only, and only where the libc object was
// preloaded.
#pragma once

#include <string>
#include <vector>

#include "harness/inject/undo_list.h"
#include "harness/observe/timeline.h"

namespace rankfault {

struct MadeFile {
  std::string path;
  uint64_t inode = 0, born = 0;  // CLOCK_REALTIME, ns
};

// The files whose record says that this very call made them. Does not check that they still exist.
std::vector<MadeFile> files_made(const Timeline&);

// Adds a line to the undo list for each file that is still the same file, in the guardian's format: the
// census reports it, and clean-up removes it.
Status list_made_files(const Timeline&, int guardian_pid, const std::string& undo_path, UndoList&);

}  // namespace rankfault
