// run_ladder: `run --ranks 1,2,4,8`: each scenario at each of these sizes, one table for each scenario.
#pragma once

#include "harness/session/ladder.h"

namespace rankfault {

// Prints the tables and returns the exit code; `all` gets every run, a refused size as a skipped one.
Result<int> run_ladders(const std::vector<Scenario>&, const std::vector<int>& sizes, SessionOptions,
                        bool as_json, SessionResult& all);

}  // namespace rankfault
