// rank_output: which file each rank of a run wrote its standard output to, by its own flight record.
#pragma once

#include <string>
#include <vector>

namespace rankfault {

struct RankOutput {
  int rank = -1;
  int attempt = 0;
  std::string file;
};

// Of all processes that claimed a rank and whose output was a file; a record that cannot be read has none.
std::vector<RankOutput> rank_outputs(const std::string& records);

}  // namespace rankfault
