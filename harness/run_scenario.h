// run_scenario: the architecture on one screen. scenario -> plan -> launch -> inject -> observe -> diagnose
// -> judge -> report.
#pragma once

#include "harness/base/result.h"
#include "harness/live/run_options.h"
#include "harness/plan/plan.h"
#include "reports/finished_run.h"

namespace rankfault {

// Whether everything that the plan needs exists: its launcher, what it lists under "needs", what must have
// been built. Starts no part of the job. kMissing: the scenario is skipped.
Status can_start(const Plan&, bool with_agent);
Result<FinishedRun> run_scenario(const Plan&, const RunOptions&);

}  // namespace rankfault
