// checks: runs the commands of `check` expectations, after the job's end and before anything of the job is
// removed.
#pragma once

#include <atomic>

#include "harness/journal/journal.h"
#include "harness/launch/launcher.h"

namespace rankfault {

// The time limit of a check whose expectation sets none.
inline constexpr Duration kCheckLimit = 30s;

// Succeeds when every such command can be started. It launches nothing to find out.
Status checks_can_start(const LaunchContext&);

// Runs the commands one after another and journals for each the command, how it ended and a digest of its
// output. Processes that a check leaves running end with the run. If `job_is_over` is false, no command runs,
// and the lines say so.
void run_checks(const LaunchContext&, bool job_is_over, const std::atomic<int>* interrupted, Guardian&,
                Journal&);

}  // namespace rankfault
