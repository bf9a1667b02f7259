// workers: runs scenarios side by side, each in a process of its own, so that no two share a signal, a
// guardian or memory. Each process returns the path of its run.
#pragma once

#include "harness/session/scenario_runner.h"

namespace rankfault {

// Runs scenarios[i] for each i of `which`, at most options.jobs at a time. Call before any thread was
// started. Calls `done` in this process, in the order in which they finish, except for scenarios that were
// never started (interrupted).
void run_in_workers(const std::vector<Scenario>& scenarios, const std::vector<size_t>& which,
                    const RunFunction&, const SessionOptions&,
                    const std::function<void(size_t, ScenarioOutcome)>& done);

Json to_json(const MutationRow&);

}  // namespace rankfault
