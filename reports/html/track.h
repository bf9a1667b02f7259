// Track: the calls of one process as numbers. Each call is: its begin since the begin before; its length + 1
// (0: it has no end); shape * 8 + state; the sequence number since that of the call before with the same
// shape; for a state with work, the time from its return to the end of its work; for a failure, its
// result.
#pragma once

#include <unordered_map>

#include "reports/html/clock.h"
#include "reports/html/packed.h"
#include "reports/html/shapes.h"

namespace rankfault::html {

enum class CallState { kReturned, kFailed, kInside, kPending, kWorkDone, kWorkFailed };

inline Instant begin_of(const RecordedCall& call) {
  const rf_record* const any = call.arguments();
  return is_known(call.entered()) ? call.entered() : any ? instant_of(any->time_ns) : Instant{};
}

class Track {
 public:
  Track(const CallHistory& history, Shapes& shapes, const Clock& clock)
      : history_(history), shapes_(shapes), clock_(clock) {}

  // Calls come in the order of their begins. Moves `last_progress` to the end of a collective or message
  // that succeeded.
  void add(const RecordedCall&, Instant& last_progress);

  Packed packed;
  uint64_t digest = 0;  // equal for processes that made the same calls with the same results

 private:
  uint32_t row_of(uint32_t lane);

  const CallHistory& history_;
  Shapes& shapes_;
  const Clock& clock_;
  uint64_t begin_ = 0;
  std::unordered_map<uint32_t, uint64_t> seq_;   // by shape
  std::unordered_map<uint32_t, uint32_t> rows_;  // by lane, in the order of their first calls
};

}  // namespace rankfault::html
