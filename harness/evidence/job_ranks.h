// job_ranks: finds the ranks of a job below its launcher, for a job that rankfault did not start.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace rankfault {

struct JobRank {
  int rank = -1;
  int pid = 0;
  uint64_t start = 0;
};

struct JobRanks {
  std::vector<JobRank> ranks;  // by rank; one process for each
  int world_size = 0;          // from the environment of the ranks; 0 unknown
};

// Reads the variables by which a launcher identifies its ranks (launcher_env.def) in `pid` and all its
// descendants. Helpers of a rank inherit its number: the rank is the topmost process that has loaded a
// communication library, or else the topmost one. Errors: no such process; no right to read one; no rank
// below it.
Result<JobRanks> ranks_below(int pid);

}  // namespace rankfault
