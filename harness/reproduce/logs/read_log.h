// read_log: all readers of logs over one file, in one pass and with bounded memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/flight_recorder/byte_source.h"
#include "harness/reproduce/logs/clue.h"

namespace rankfault {

constexpr size_t kMostClues = 100'000;

struct LogClues {
  std::vector<Clue> clues;  // in the order of their lines; equal ones once, see Clue::times
  uint64_t lines = 0, bytes = 0;
  uint64_t left_out = 0;  // clues beyond kMostClues
  std::string cut_short;  // why the file could not be read to its end: "gzip: ends in the middle ..."
};

// Bytes of the file (packed, if it is packed) that are read, and all of them.
using LogProgress = std::function<void(uint64_t bytes_done, uint64_t bytes_total)>;

// Reads a plain or a gzip file. `progress` may be empty; it is called once in 64 MiB.
Result<LogClues> read_log(const std::string& path, const LogProgress& progress = {});
// The same for bytes that have a name.
LogClues read_log_bytes(ByteSource& source, const std::string& name, const LogProgress& progress = {},
                        const std::function<uint64_t()>& bytes_done = {}, uint64_t bytes_total = 0);

}  // namespace rankfault
