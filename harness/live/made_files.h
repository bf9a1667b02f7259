// made_files: what the ranks' flight records say that they made in /dev/shm.
//
// The guardian sees a file while somebody of the job holds it. One that is made, closed and abandoned between
// two of its looks stands in the records only, where the libc object was preloaded.
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

// Those of which the record says that this very call made them; whether they are still there is not asked.
std::vector<MadeFile> files_made(const Timeline&);

// A line in the undo list for each that is still that very file, as the guardian would have written it: the
// census tells it, and clean-up removes it.
Status list_made_files(const Timeline&, int guardian_pid, const std::string& undo_path, UndoList&);

}  // namespace rankfault
