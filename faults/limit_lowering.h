// limit_lowering: shared by the faults that limit a victim to its current use of a resource.
#pragma once

#include "faults/fault.h"

namespace rankfault {

// For each victim, sets the limit at the trigger and restores the previous one after `for`. `resource` is
// RLIMIT_*.
Result<std::vector<Action>> lower_to_limit(const FaultSpec&, const LowerContext&, int resource);

}  // namespace rankfault
