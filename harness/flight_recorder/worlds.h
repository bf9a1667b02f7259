// Worlds: the number of ranks of the job, according to each dump. Dumps that disagree come from several jobs.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace rankfault {

class Worlds {
 public:
  void add(size_t ranks, int said_by) { said_by_[ranks].push_back(said_by); }
  // "the dumps disagree about the world: 4 (ranks 0 1) / 8 (ranks 2 3)"; "" when they agree.
  std::string disagreement() const;

 private:
  std::map<size_t, std::vector<int>> said_by_;  // number of ranks -> the ranks whose dumps give it
};

}  // namespace rankfault
