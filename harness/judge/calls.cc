// calls: which calls of a process an oracle judges, and how far its records reach.
#include <algorithm>
#include <map>

#include "harness/judge/oracle_queries.h"

namespace rankfault {

std::vector<const RecordedCall*> communication_calls(const CallHistory& history, bool with_executions) {
  const uint16_t without = with_executions ? 0 : RF_CALL_EXECUTION;
  std::vector<const RecordedCall*> out;
  for (const RecordedCall& call : history.calls())
    if (call.traits().communicates && !(call.flags() & without)) out.push_back(&call);
  std::stable_sort(out.begin(), out.end(),
                   [](const auto* a, const auto* b) { return a->entered() < b->entered(); });
  return out;
}

// Saved records may have gaps. Of each lane, only the records after its last gap count.
Instant records_begin(const ProcessView& process) {
  constexpr uint64_t kTorn = 2;  // a record that was never whole is not a gap
  if (process.history_lost == 0) return {};
  struct Oldest {
    uint64_t index;
    Instant time;
    bool broken;
  };
  std::map<uint32_t, Oldest> lanes;
  const std::vector<Event> events = process.events().value_or(std::vector<Event>{});
  for (auto e = events.rbegin(); e != events.rend(); ++e) {
    const Instant time = instant_of(e->record.time_ns);
    Oldest& oldest = lanes.try_emplace(e->lane, Oldest{e->index, time, false}).first->second;
    oldest.broken = oldest.broken || oldest.index > e->index + kTorn;
    if (!oldest.broken) oldest = {e->index, time, false};
  }
  Instant begin = events.empty() ? kEndOfTime : Instant{};
  for (const auto& [lane, oldest] : lanes) begin = std::max(begin, oldest.time);
  return begin;
}

bool whole_record(const ProcessView& process) {
  constexpr uint32_t kHides = RF_PARTIAL_LANES | RF_PARTIAL_HISTORY | RF_PARTIAL_NAMES;
  return process.history_lost == 0 && (process.partial & kHides) == 0;
}

bool whole_marks(const ProcessView& process) {
  constexpr uint32_t kHides = RF_PARTIAL_LANES | RF_PARTIAL_HISTORY | RF_PARTIAL_NAMES;
  return !process.may_have_lost_marks() && (process.partial & kHides) == 0;
}

}  // namespace rankfault
