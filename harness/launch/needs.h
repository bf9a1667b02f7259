// needs: what a scenario says must be there, beside its launcher and NCCL. kMissing: it is skipped (77).
#pragma once

#include "harness/base/result.h"
#include "harness/scenario/scenario.h"

namespace rankfault {

// `bin_dir` is where rankfault's own programs lie, with its libraries in ../lib. With an agent the decoder of
// what the job calls must have been built, too: else nothing of it could be recorded.
Status needs_met(const Workload&, const std::string& bin_dir, bool with_agent);

}  // namespace rankfault
