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

// The last few lines of what a process wrote: of its standard error where that is a file beside its standard
// output, else of its output. Printable, cut, secrets masked; none where its output was no file.
std::vector<std::string> last_words(const std::string& ring_path);

std::vector<std::string> last_lines(const std::string& file);

// Of all processes that claimed a rank and whose output was a file; a record that cannot be read has none.
std::vector<RankOutput> rank_outputs(const std::string& records);

}  // namespace rankfault
