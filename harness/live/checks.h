// checks: the commands of `check` expectations, run after the job's end and before anything of it is removed.
#pragma once

#include <atomic>

#include "harness/launch/launcher.h"
#include "harness/run/journal.h"

namespace rankfault {

// How long one may take when its expectation does not say.
inline constexpr Duration kCheckLimit = std::chrono::seconds(30);

// Every such command can be started. Nothing is launched to find out.
Status checks_can_start(const LaunchContext&);

// Runs them one after another and journals each: what was run, how it ended, a digest of what it said.
// What a check leaves running ends with the run. `job_is_over` false: nothing is run, and the lines say so.
void run_checks(const LaunchContext&, bool job_is_over, const std::atomic<int>* interrupted, Guardian&,
                Journal&);

}  // namespace rankfault
