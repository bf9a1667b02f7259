// job_command: reads a job as its user starts it, "mpirun -np 4 ./a": which launcher it is, and which words
// belong to the launcher and which to the program.
#pragma once

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/scenario/scenario.h"

namespace rankfault {

constexpr int kRanksNotGiven = 0;

// `ranks`: the number given with the command; kRanksNotGiven: the launcher's words give it. rankfault
// starts a program without a launcher `ranks` times on this machine. Without the number it starts the program
// once, and the program starts its ranks itself. Errors are the user's.
Result<Workload> workload_of(const std::vector<std::string>& command, int ranks);

// The scenario that `run` would make of such a command, without faults. It expects that the diagnosis finds
// nothing. `wall`: its limit, as a duration.
Result<Scenario> watched_scenario(const std::vector<std::string>& command, int ranks,
                                  const std::string& wall);

}  // namespace rankfault
