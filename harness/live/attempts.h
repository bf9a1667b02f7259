// attempts: runs the attempts of a job, from the launch of the ranks to the last look at each attempt.
#pragma once

#include "harness/launch/installed_files.h"
#include "harness/launch/launcher.h"
#include "harness/live/attempt_loop.h"
#include "harness/live/live_run.h"
#include "harness/live/run_options.h"

namespace rankfault {

// Starts the job again while an attempt fails and the scenario allows a restart. Returns how the last attempt
// ended. Processes that still run then keep running. `channel`: null if all ranks are on this host.
Result<AttemptEnd> run_attempts(const Plan&, InstalledFiles, LiveRun&, const RunOptions&, LiveParts,
                                EvidenceTaker&, const Launcher&, const NodeChannel* channel);

}  // namespace rankfault
