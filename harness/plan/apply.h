// apply: applies a variant, a mutation check (tooth), its bug and --set changes to a scenario; the result is
// a plain scenario.
#pragma once

#include "harness/plan/plan.h"

namespace rankfault {

Result<Scenario> apply(const Scenario&, const PlanOptions&);

}  // namespace rankfault
