// node: the launcher program below the guardian from which a rank descends, and all processes that it
// started.
#pragma once

#include <optional>
#include <vector>

#include "harness/base/process_tree.h"

namespace rankfault {

// The child of `guardian` that is an ancestor of `pid`. nullopt: `pid` is that child itself, or not a
// descendant.
std::optional<ProcStat> launcher_of(int pid, int guardian);
// The living processes below the launcher, without the launcher itself.
std::vector<ProcStat> started_by(const ProcStat& launcher);

}  // namespace rankfault
