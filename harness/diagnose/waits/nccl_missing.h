// nccl_missing: finds calls of NCCL that one member omitted and others wait for, while all ranks live. It
// uses the member's earlier rounds, the calls at the other side of its messages, and the calls that its own
// process waits for.
#pragma once

#include <vector>

#include "harness/diagnose/finding.h"
#include "harness/diagnose/model/view.h"

namespace rankfault {

// Returns missing_call findings, inferred.
std::vector<Finding> missing_in_nccl(const JobView&, const DiagnoseOptions&);

}  // namespace rankfault
