// shm_segments: what the shared-memory faults share when they are lowered: which segments are harmed, and
// where.
#pragma once

#include "faults/fault.h"

namespace rankfault {

// "path", else the trigger's own; it must lie below /dev/shm/. A create or attach without a pattern of its
// own is a trigger only where it is of a segment to be harmed. `size` and `mode` are what `verb` makes of
// them.
Result<std::vector<Action>> harm_segments(const FaultSpec&, const LowerContext&, OutsideVerb verb,
                                          int64_t size = 0, int mode = 0);

// "path" of a fault that harms segments of the job.
ParamSpec segments_parameter();

}  // namespace rankfault
