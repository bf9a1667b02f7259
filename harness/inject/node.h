// node: the launcher program below the guardian that a rank descends from, and all that it started.
#pragma once

#include <optional>
#include <vector>

#include "harness/base/process_tree.h"

namespace rankfault {

// The child of `guardian` that is an ancestor of `pid`; nullopt: `pid` is that child itself, or no
// descendant.
std::optional<ProcStat> launcher_of(int pid, int guardian);
// What lives below it, the launcher not counted.
std::vector<ProcStat> started_by(const ProcStat& launcher);

}  // namespace rankfault
