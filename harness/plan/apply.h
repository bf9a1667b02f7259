// apply: a scenario with a variant, a tooth, its bug and --set changes in place; what is left is a plain one.
#pragma once

#include "harness/plan/plan.h"

namespace rankfault {

Result<Scenario> apply(const Scenario&, const PlanOptions&);

}  // namespace rankfault
