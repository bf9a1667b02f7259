// shm_segments: how the shared-memory faults are lowered: which segments they damage, and when.
#pragma once

#include "faults/fault.h"

namespace rankfault {

// "path", else the trigger's own; it must lie below /dev/shm/. A create or attach trigger without a pattern
// of its own fires only for a segment that is to be damaged. `size` and `mode` are the arguments of `verb`.
Result<std::vector<Action>> harm_segments(const FaultSpec&, const LowerContext&, const char* act,
                                          int64_t size = 0, int mode = 0);

// "path" of a fault that damages segments of the job.
ParamSpec segments_parameter();

}  // namespace rankfault
