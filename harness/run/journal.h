// Journal: the append-only NDJSON history of a run. Everything a verdict uses is here before it is
// used. One line is one object: {"n": line number from 1, "t": CLOCK_MONOTONIC ns, "ev": kind, ...}.
// The kinds and their keys are listed in docs/reference/journal.md.
#pragma once

#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/base/time.h"
#include "harness/base/unique_fd.h"

namespace rankfault {

class Journal {
 public:
  static Result<Journal> create(const std::string& path);  // O_EXCL

  // Writes one line with one write(2) and returns its number. `fields` must not hold n, t or ev.
  uint64_t write(const std::string& ev, Json fields);
  uint64_t lines() const { return lines_; }

 private:
  explicit Journal(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
  uint64_t lines_ = 0;
};

// All whole lines of a journal; a torn last line (the tool was killed) is left out.
Result<std::vector<Json>> read_journal(const std::string& path);

}  // namespace rankfault
