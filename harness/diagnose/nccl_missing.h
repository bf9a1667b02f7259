// nccl_missing: calls of NCCL that one member left out and others wait for, told while all ranks live: by
// what it did in earlier rounds, by what the other side of its messages takes, and by what its own process
// waits for.
#pragma once

#include <vector>

#include "harness/diagnose/finding.h"
#include "harness/diagnose/view.h"

namespace rankfault {

// missing_call, inferred.
std::vector<Finding> missing_in_nccl(const JobView&, const DiagnoseOptions&);

}  // namespace rankfault
