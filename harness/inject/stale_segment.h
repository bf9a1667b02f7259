// stale_segment: leaves a segment in /dev/shm under a name that the job is about to use.
#pragma once

#include <cstdint>
#include <string>

#include "harness/inject/undo_list.h"

namespace rankfault {

// `size` bytes of `byte`. It gets its name only once it is whole and on the undo list; a name that is taken
// is left alone. Only names directly below /dev/shm/, and none that mkstemp will yet choose.
Status leave_segment(const std::string& path, int64_t size, int byte, UndoList&);

// The same in place of the segment of that name, which keeps it until the new one is whole: it lies beside it
// under another name and is renamed. Whatever fails, the old one is left.
Status replace_segment(const std::string& path, int64_t size, int byte, UndoList&);

}  // namespace rankfault
