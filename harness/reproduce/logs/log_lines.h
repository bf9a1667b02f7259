// log_lines: the lines of a log, one at a time, with bounded memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "harness/flight_recorder/byte_source.h"
#include "harness/reproduce/logs/clue.h"

namespace rankfault {

constexpr size_t kLongestLine = size_t{64} << 10;  // the rest of a longer line is skipped

class LogLines {
 public:
  explicit LogLines(ByteSource& source);

  // The next line without its end, as it stands in the file; false at the end or at an error. The text lives
  // until the next call.
  bool next(std::string_view& line);
  uint64_t number() const { return number_; }  // of the line that `next` gave, from 1
  uint64_t bytes() const { return bytes_; }    // read so far
  // The error that ended the lines early, else nullptr.
  const Error* error() const { return error_.get(); }

 private:
  bool fill();

  ByteSource& source_;
  std::unique_ptr<char[]> buffer_;
  size_t begin_ = 0, end_ = 0;  // of the bytes in the buffer that no line has taken
  bool skips_ = false;          // the rest of a line that was too long
  uint64_t number_ = 0, bytes_ = 0;
  std::unique_ptr<Error> error_;
};

// True if a terminal would show something else than these bytes: colours, progress bars, NUL.
bool has_controls(std::string_view line);
// What a terminal would show: without colours, titles and other control bytes; of text that a carriage return
// overwrites, the last.
std::string without_controls(std::string_view line);

// Takes the prefixes of launchers and loggers off: rank, host and time.
LogLine log_line(std::string_view line, uint64_t number);

// The rank that the name of a log file gives, or -1. It is certain only where the name says "rank", or where
// torchrun made the folder; a number in the name of a pod or of a Slurm job counts something else.
struct NameRank {
  int rank = -1;
  bool is_local = false;  // of its host: ".../attempt_0/3/stderr.log"
};
NameRank log_rank_of_name(std::string_view path);

}  // namespace rankfault
