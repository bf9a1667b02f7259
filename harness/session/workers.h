// workers: scenarios side by side, each in a process of its own, so that none shares a signal, a
// guardian or a memory with another. What comes back is where its run lies.
#pragma once

#include "harness/session/unit.h"

namespace rankfault {

// Runs scenarios[i] for each i of `which`, at most options.jobs at a time. Call before any thread was
// started. `done` is called in this process, in the order in which they finish; one that was never
// started (interrupted) is not told.
void run_in_workers(const std::vector<Scenario>& scenarios, const std::vector<size_t>& which,
                    const RunFunction&, const SessionOptions&,
                    const std::function<void(size_t, UnitResult)>& done);

Json to_json(const ToothRow&);

}  // namespace rankfault
