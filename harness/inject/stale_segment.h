// stale_segment: leaves a segment in /dev/shm under a name that the job is about to use.
#pragma once

#include <cstdint>
#include <string>

#include "harness/inject/undo_list.h"

namespace rankfault {

// Makes a segment of `size` bytes of `byte`. The segment gets its name only when it is whole and on the undo
// list; a name that is taken is left alone. Accepts only names directly below /dev/shm/, and none whose
// characters mkstemp will still choose.
Status leave_segment(const std::string& path, int64_t size, int byte, UndoList&);

// The same in place of the segment of that name. The old segment keeps the name until the new one is whole:
// the new one is made under another name and then renamed. After any failure the old one is left.
Status replace_segment(const std::string& path, int64_t size, int byte, UndoList&);

}  // namespace rankfault
