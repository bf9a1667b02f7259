// shm_effect: what the shared-memory faults share when they are verified: whether somebody missed what was
// harmed.
#pragma once

#include "faults/effect.h"

namespace rankfault {

// The first attempt of any process of the job to open a matching segment after `from` that failed
// with one of these errnos (0: that succeeded).
struct FailedAttach {
  int rank = -1;
  TimeNs time = 0;
  std::string path;
  int error = 0;
};
// Of a segment that this action harmed.
std::optional<FailedAttach> failed_attach(const RunFacts&, const Action&, TimeNs from,
                                          const std::vector<int>& errors);

// The first use of a name that this action harmed: create, attach or unlink, by any process of the attempt,
// in [from, until).
struct SegmentUse {
  int rank = -1;
  TimeNs time = 0;
  std::string path;
  rf_op op = RF_OP_NONE;
  int error = 0;
};
std::optional<SegmentUse> first_use(const RunFacts&, const Action&, int attempt, TimeNs from, TimeNs until);

}  // namespace rankfault
