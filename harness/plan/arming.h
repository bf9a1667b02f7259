// arming: writes the plan's actions into the control page, in the form that the agents read.
#pragma once

#include "harness/plan/plan.h"

namespace rankfault {

// Fills `armed`, `armed_count`, `armed_ops` and `libc_points`. Entry i is Plan::actions[i]. An action that
// is performed at no gate (ActTime) has rank kNobody and matches no process. Call this once
// before each attempt, while no process of the job lives. From attempt 1 on the counters stay, except those
// of each_attempt actions, so that "once" means once a run.
void arm(const Plan&, int attempt, rf_control&);

inline constexpr int32_t kNobody = -2;

// The op that an action waits on; RF_OP_NONE: any collective.
rf_op armed_op(const Trigger&);

}  // namespace rankfault
