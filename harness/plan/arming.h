// arming: the plan's actions, as the agents read them in the control page.
#pragma once

#include "harness/plan/plan.h"

namespace rankfault {

// Fills `armed`, `armed_count`, `armed_ops` and `libc_points`. Entry i is Plan::actions[i]; one that
// the harness does by itself later (is_timed) has rank kNobody and matches no process. Call it once
// before each attempt, while no process of the job lives: from attempt 1 on the counters stay, so that
// "once" means once a run, except those of each_attempt actions.
void arm(const Plan&, int attempt, rf_control&);

inline constexpr int32_t kNobody = -2;

// The op an action waits on; RF_OP_NONE: any collective.
rf_op armed_op(const Trigger&);

}  // namespace rankfault
