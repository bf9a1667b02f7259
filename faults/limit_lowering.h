// limit_lowering: what the faults share that leave a victim with what it has in use of a resource.
#pragma once

#include "faults/fault.h"

namespace rankfault {

// For each victim the limit at the trigger, and after `for` the one it had before. `resource` is RLIMIT_*.
Result<std::vector<Action>> lower_to_limit(const FaultSpec&, const LowerContext&, int resource);

}  // namespace rankfault
