// TrainerJob: runs the real trainer with several ranks, and returns how each rank ended.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace trainer {

struct JobResult {
  std::vector<int> exit_codes;  // minus the number of the signal that ended a rank
  std::string output;           // of all ranks, in the order of arrival

  std::string weights() const;  // the checksum that rank 0 prints at its end; "": none
};

struct Job {
  int world_size = 1;
  std::vector<std::string> arguments;
  std::map<int, std::vector<std::string>> only_for_rank{};  // more arguments for one rank
};

JobResult run_job(const Job& job);

}  // namespace trainer
