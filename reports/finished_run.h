// FinishedRun: a run that is over, and its judgement, made from its directory alone.
#pragma once

#include <memory>
#include <string>

#include "harness/base/result.h"
#include "harness/facts/run_facts.h"
#include "reports/report.h"

namespace rankfault {

struct FinishedRun {
  std::unique_ptr<RunFacts> facts;
  RunReport report;
};

// Reads and judges a run directory. A run whose tool was killed is at best unknown.
Result<FinishedRun> judge_finished(const std::string& run_dir);

}  // namespace rankfault
