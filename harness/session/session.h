// session: all scenarios of one command, in order or side by side, and the exit code of the command.
#pragma once

#include "harness/session/scenario_runner.h"

namespace rankfault {

struct SessionResult {
  std::vector<ScenarioOutcome> units;  // in the order of the scenarios
  int exit_code = 0;
};

// Plans every scenario once before it launches anything.
Result<SessionResult> run_session(const std::vector<Scenario>&, const RunFunction&, const SessionOptions&);

// The code of one unit, and of all: the first that applies of 70, 64, 71, 3, 1, 2, 77 (all were), 0.
int exit_code_of(const ScenarioOutcome&, bool by_verdict);
int merged_exit_code(const std::vector<int>& codes);

// Judges a finished run again, from its directory alone. A comparison has no facts of a single run.
Result<FinishedRun> judge_run(const std::string& run_dir);

}  // namespace rankfault
