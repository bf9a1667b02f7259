// needs: what a scenario requires besides its launcher and NCCL. kMissing: the scenario is skipped (77).
#pragma once

#include "harness/base/result.h"
#include "harness/scenario/scenario.h"

namespace rankfault {

// `bin_dir` holds rankfault's own programs, with its libraries in ../lib. With an agent, the decoder of the
// library that the job calls must also be built: otherwise no call could be recorded.
Status needs_met(const Workload&, const std::string& bin_dir, bool with_agent);

}  // namespace rankfault
