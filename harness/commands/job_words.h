// job_words: a job as its user starts it, "mpirun -np 4 ./a": which launcher that is, which words are the
// launcher's and which the program's.
#pragma once

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/scenario/scenario.h"

namespace rankfault {

constexpr int kRanksNotGiven = 0;

// `ranks` as said beside the command; kRanksNotGiven: the launcher's words say it. A command that is no
// launcher is started `ranks` times on this machine; where they are not given, once, and starts its ranks
// itself. Errors are the user's.
Result<Workload> workload_of(const std::vector<std::string>& command, int ranks);

}  // namespace rankfault
