// TrainerJob: runs the real trainer with several ranks, and tells how each ended.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace trainer {

struct JobResult {
  std::vector<int> exit_codes;  // minus the signal's number for a rank that a signal ended
  std::string output;           // of all ranks, as it came

  std::string weights() const;  // the checksum that rank 0 prints at its end, "" without
};

struct Job {
  int world_size = 1;
  std::vector<std::string> arguments;
  std::map<int, std::vector<std::string>> only_for_rank{};  // more arguments for one rank
};

JobResult run_job(const Job& job);

}  // namespace trainer
