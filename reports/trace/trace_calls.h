// trace_calls: writes the calls of one process into a trace, and remembers those that findings are about.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/facts/run_facts.h"
#include "harness/observe/call_history.h"
#include "reports/trace/trace_writer.h"

namespace rankfault {

// Of all ranks: a trace of 60 MB, or of 120 MB with pending work.
inline constexpr size_t kMostTraceCalls = 200'000;

// The largest number n for which the newest n calls of every lane are `most` or fewer in all.
size_t share_of_lanes(const std::vector<size_t>& calls_of_lanes, size_t most);

// Number of calls on each lane of the process, by lane.
std::map<uint32_t, size_t> calls_by_lane(const ProcessView&);

struct TracedCall {  // a slice that a finding is about
  size_t finding = 0;
  TraceRow row;
  Instant entered;
};

class CallTracer {
 public:
  CallTracer(const RunFacts& facts, size_t newest, TraceWriter& writer)
      : facts_(facts), newest_(newest), writer_(writer) {}

  void write(const ProcessView&, int pid);
  const std::vector<TracedCall>& of_findings() const { return of_findings_; }
  size_t left_out() const { return left_out_; }
  size_t without_begin() const { return without_begin_; }

 private:
  void write(const CallHistory&, const RecordedCall&, const RecordedCall* next, Instant end, TraceRow);
  Json args_of(const CallHistory&, const RecordedCall&);
  void note_findings(const ProcessView&, const RecordedCall&, TraceRow);

  const RunFacts& facts_;
  size_t newest_;
  TraceWriter& writer_;
  std::vector<TracedCall> of_findings_;
  size_t left_out_ = 0, without_begin_ = 0;
};

}  // namespace rankfault
