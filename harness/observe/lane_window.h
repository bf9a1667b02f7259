// LaneWindow: the newest history records of one lane, kept in memory. It alone decides which records are let
// go, and when.
//
// It holds two windows side by side: one for calls, and one for marks and libc points, which are few and
// which oracles read long afterwards. Each keeps the newest `window` calls (marks). Older calls stay while a
// member of their communicator has not completed them, up to twice that many. Records are held in chunks.
// Looks share the chunks, and chunks are let go as a whole, so neither a look nor letting go costs
// more as the job grows older. A lane whose calls have many records each (waits for hundreds of requests)
// keeps fewer calls: at most kMostRecords records.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "harness/observe/timeline.h"

namespace rankfault {

constexpr uint64_t kWindowCalls = 10'000;

struct RecordChunk {
  std::vector<rf_record> records;  // of fixed capacity: looks read them while more are added
  size_t saved = 0;                // number of records that are also in files (seen_files.h)
};

// kWindowCalls, or the environment's RANKFAULT_WINDOW_CALLS, for tests that cannot make so many calls.
uint64_t window_calls();

bool is_mark_or_file(const rf_record&);  // true: the record belongs to the second window

class LaneWindow {
 public:
  explicit LaneWindow(uint64_t window);

  void add(const rf_record&);  // a whole record, newer than those before it, or one that was torn until now
  // Lets go what is too old. `complete(comm, seq)`: every member has completed that call.
  void trim(const std::function<bool(uint32_t comm, uint64_t seq)>& complete);
  // Records were lost before the next one: calls before the gap can no longer be compared with those of other
  // ranks.
  void after_hole();

  // What a look shows. It does not change, whatever is added or let go later.
  struct Shown {
    uint64_t first = 0, first_mark = 0;  // see LaneView
    uint64_t records = 0;
    std::vector<std::pair<std::shared_ptr<RecordChunk>, size_t>> chunks;  // each with its number of records
                                                                          // at that time
  };
  Shown newest(uint64_t calls) const;  // at least that many, if they are here
  Shown all() const { return newest(UINT64_MAX); }
  uint64_t let_go() const { return let_go_; }  // number of records
  uint64_t marks_let_go() const { return marks_let_go_; }

 private:
  struct Chunk {
    std::shared_ptr<RecordChunk> held;
    uint64_t calls = 0;                                   // number of calls, or of marks, that begin in it
    std::vector<std::pair<uint32_t, uint64_t>> last_seq;  // by communicator
  };
  struct Part {
    std::deque<Chunk> chunks;
    uint64_t calls = 0, records = 0;
    uint64_t first = 0;  // index of the first record that is kept
  };
  void add(Part&, const rf_record&);
  uint64_t let_go_first(Part&);

  uint64_t window_;
  size_t chunk_records_;
  Part calls_, marks_;
  uint64_t let_go_ = 0, marks_let_go_ = 0;  // number of records
  uint64_t next_ = 0;                       // index after the newest record
};

}  // namespace rankfault
