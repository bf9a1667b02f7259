// shm_effect: how the shared-memory faults are verified: whether a process missed the damaged segment.
#pragma once

#include "faults/effect.h"

namespace rankfault {

// The first time after `from` that any process of the job tried to open a matching segment and failed with
// one of these errnos (0: succeeded).
struct FailedAttach {
  int rank = -1;
  Instant time;
  std::string path;
  int error = 0;
};
// Only for segments that this action damaged.
std::optional<FailedAttach> failed_attach(const RunFacts&, const Action&, Instant from,
                                          const std::vector<int>& errors);

// The first use of a name that this action damaged: create, attach or unlink, by any process of the attempt,
// in [from, until).
struct SegmentUse {
  int rank = -1;
  Instant time;
  std::string path;
  rf_op op = RF_OP_NONE;
  int error = 0;
};
std::optional<SegmentUse> first_use(const RunFacts&, const Action&, int attempt, Instant from, Instant until);

}  // namespace rankfault
