// run_scenario: the architecture on one screen. scenario -> plan -> launch -> inject -> observe -> diagnose
// -> judge -> report.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "harness/base/result.h"
#include "harness/live/watching.h"
#include "harness/plan/plan.h"
#include "harness/session/finished_run.h"

namespace rankfault {

struct RunOptions {
  std::string run_dir;  // "" : a fresh one
  bool with_agent = true;
  std::string reference_run;                         // directory of the finished reference, "" none
  std::function<void(const std::string&)> progress;  // one plain line each
  const std::atomic<int>* interrupted = nullptr;     // signal number after the user asked to stop
  const WatchOptions* watch = nullptr;               // null: a scenario
};

// Whether everything that the plan needs exists: its launcher, what it lists under "needs", what must have
// been built. Starts no part of the job. kMissing: the scenario is skipped.
Status can_start(const Plan&, bool with_agent);
Result<FinishedRun> run_scenario(const Plan&, const RunOptions&);

}  // namespace rankfault
