// Journal: the append-only NDJSON history of a run. Everything that a verdict uses is written here before it
// is used. One line is one object: {"n": line number from 1, "t": CLOCK_MONOTONIC ns, "ev": kind, ...}. Each
// kind is a struct of *_events.h; docs/reference/journal.md is made from these structs.
#pragma once

#include <string>
#include <vector>

#include "harness/base/unique_fd.h"
#include "harness/journal/journal_line.h"

namespace rankfault {

class Journal {
 public:
  static Result<Journal> create(const std::string& path);  // O_EXCL

  // Writes one line and returns its number. A line that the disk refuses is lost: its number is missing in
  // the file, and the next line is written as soon as there is room. Values that look secret are masked
  // (harness/base/mask.h).
  template <typename E>
  uint64_t write(const E& event) {
    return write(E::kDoc.name, keys_to_json(event), HostClock::now());
  }
  // The same for something that happened at another time, on a node whose line comes later.
  template <typename E>
  uint64_t write_at(Instant when, const E& event) {
    return write(E::kDoc.name, keys_to_json(event), when);
  }
  // Call after the last line: gives back the reserved disk room that was not used.
  void give_back_room();
  uint64_t lines() const { return lines_; }
  uint64_t lost() const { return lost_; }
  const std::string& why_lost() const { return why_lost_; }  // the first refusal; "": there was none

 private:
  uint64_t write(const std::string& ev, const Json& keys, Instant when);
  explicit Journal(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
  uint64_t lines_ = 0, lost_ = 0;
  std::string why_lost_;
};

// All whole lines of a journal; a torn last line (the tool was killed) is left out. A line that no Journal
// wrote is an error: the run cannot be judged.
Result<JournalLines> read_journal(const std::string& path);

}  // namespace rankfault
