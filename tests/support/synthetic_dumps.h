// SyntheticDumps: the Flight Recorder dumps of a ParallelJob.
#pragma once

#include <functional>
#include <vector>

#include "harness/flight_recorder/dump.h"
#include "tests/support/parallel_job.h"

namespace rankfault::testing {

// In the order of the ranks; ranks whose dump is missing are left out.
std::vector<FrDump> synthetic_dumps(const SyntheticJob&);
void each_synthetic_dump(const SyntheticJob&, const std::function<void(FrDump)>&);

}  // namespace rankfault::testing
