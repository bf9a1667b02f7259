// job_ranks: which processes below a launcher are the ranks of its job, for one that was started without us.
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
  std::vector<JobRank> ranks;  // by rank; one process each
  int world_size = 0;          // as the ranks were told; 0 unknown
};

// What a launcher tells its ranks through their environment (launcher_env.def). `pid` itself and all its
// descendants are asked. Helpers of a rank inherit its number: the rank is the topmost process that has a
// communication library loaded, or the topmost one. Errors: no such process; one that we may not look at;
// none below it is a rank.
Result<JobRanks> ranks_below(int pid);

}  // namespace rankfault
