// absent_ranks: the ranks of a job that have no readable dump.
#pragma once

#include <set>
#include <vector>

#include "harness/flight_recorder/read_dumps.h"
#include "harness/observe/timeline.h"

namespace rankfault {

// Fills Timeline::expected for all ranks of its world. A rank whose dump exists but cannot be read is
// `unread`. If a dump that names no rank cannot be read, each absent rank is `unread` too. A remark lists the
// others.
void expect_absent(Timeline&, const std::set<int>& there, std::vector<FrEvidence>&);

}  // namespace rankfault
