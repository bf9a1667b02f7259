// group_dispute: the finding about ranks that make different groups under one number.
#pragma once

#include <optional>

#include "harness/diagnose/finding.h"
#include "harness/diagnose/model/view.h"

namespace rankfault {

// Returns a call_mismatch once a rank has waited in such a creation for slow_after, or it failed.
std::optional<Finding> group_dispute(const JobView&, const DiagnoseOptions&);

}  // namespace rankfault
