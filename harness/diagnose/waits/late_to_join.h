// late_to_join: the ranks that others wait for in a meeting: the making of a communicator of NCCL, or of a
// group of PyTorch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/diagnose/finding.h"
#include "harness/diagnose/model/meetings.h"
#include "harness/diagnose/timing/wait_thresholds.h"

namespace rankfault {

struct LateToJoin {
  std::vector<const Process*> ranks;  // members of the job without a seat; more than are missing is possible
  WaitThreshold patience;             // the patience that was exceeded
  // All of them have ended, are stopped, sleep, or have long been in other calls.
  bool hung = false;

  bool all_are_missing(const Meeting& meeting) const { return ranks.size() == meeting.missing(); }
};

// Returns none if nobody has waited for long enough.
std::optional<LateToJoin> late_to_join(const JobView&, const Meeting&, const DiagnoseOptions&);

// "rank 1 is inside all_reduce 3 on dp".
std::string what_it_does(const JobView&, const Process&, const DiagnoseOptions&);

// Fills the operation, the time and the sides of a finding about them. It blames them if they are all that
// are missing.
void describe_late_to_join(Finding&, const JobView&, const Meeting&, const LateToJoin&,
                           const DiagnoseOptions&);

}  // namespace rankfault
