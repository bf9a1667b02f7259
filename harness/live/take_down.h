// take_down: the end of a run: census, checks of the user, end of the job, and clean-up of the host.
#pragma once

#include <string>

#include "harness/launch/installed_files.h"
#include "harness/live/attempt_loop.h"
#include "harness/live/live_run.h"
#include "harness/live/run_options.h"

namespace rankfault {

// Takes the census, runs the user's checks, ends the remaining processes, and undoes the changes to the host.
// Returns what could not be undone; "": nothing.
std::string take_down(const Plan&, const InstalledFiles&, const RunOptions&, LiveRun&, AttemptEnd);

}  // namespace rankfault
