// from_timeline: a case from what diagnosis reads: the flight records of a run, or Flight Recorder dumps.
#pragma once

#include "harness/diagnose/finding.h"
#include "harness/observe/timeline.h"
#include "harness/reproduce/case.h"

namespace rankfault {

// `causes`: the findings of diagnose(). Each rank keeps its `most_calls` newest calls, or so many
// before a divergence that is further back.
Case case_from_timeline(const Timeline&, const std::vector<Finding>& causes, size_t most_calls);

// The state that findings describe: the first cause, with the ranks of later causes of the same kind. A live
// job has one finding for each rank that is late.
HangState state_of(const std::vector<Finding>&);

}  // namespace rankfault
