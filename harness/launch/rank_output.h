// rank_output: the file to which each rank of a run wrote its standard output, according to its own flight
// record.
#pragma once

#include <string>
#include <vector>

namespace rankfault {

struct RankOutput {
  int rank = -1;
  int attempt = 0;
  std::string file;
};

// The last few lines that a process wrote: from its standard error if that is a file beside its standard
// output, else from its output. Printable, cut, secrets masked; none if its output was not a file. If they
// have a traceback of Python, the first two are the exception, and kRaisedIn with its place. If they have
// none, the traceback of `error_file` counts (error_file.h; "": the process has none).
std::vector<std::string> last_words(const std::string& ring_path, const std::string& error_file = "");

// `rank`: a traceback of another rank does not count.
std::vector<std::string> last_lines(const std::string& file, int rank = -1);

// Of all processes that claimed a rank and whose output was a file. A record that cannot be read adds none.
std::vector<RankOutput> rank_outputs(const std::string& records);

}  // namespace rankfault
