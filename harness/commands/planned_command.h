// planned_command: what a run of a plan would start: the launcher's whole command, its environment, and who
// restarts ranks.
#pragma once

#include <string>
#include <vector>

#include "harness/plan/plan.h"

namespace rankfault {

// Lines for people. RUN and TMP stand for the folders of the run. Asks the launcher program for its version,
// and starts nothing of the job.
std::vector<std::string> planned_command(const Plan&);
std::string planned_restarts(const Workload&);  // "0 by rankfault, 2 by torchrun (--max-restarts)"

}  // namespace rankfault
