// needs: what a scenario says must be there, beside its launcher and NCCL. kMissing: it is skipped (77).
#pragma once

#include "harness/base/result.h"
#include "harness/scenario/scenario.h"

namespace rankfault {

Status needs_met(const Workload&);

}  // namespace rankfault
