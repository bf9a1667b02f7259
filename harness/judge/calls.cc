// calls: pairs the enters and exits of one process into calls, from its history and its state words.
#include <algorithm>
#include <map>

#include "harness/judge/oracle_queries.h"

namespace rankfault {
namespace {

bool communicates(uint8_t library) {
  return library == RF_LIB_MPI || library == RF_LIB_NCCL || library == RF_LIB_GLOO || library == RF_LIB_C10D;
}

bool leaves(uint8_t phase) {
  return phase == RF_PHASE_EXIT || phase == RF_PHASE_ENQUEUE || phase == RF_PHASE_ERROR;
}

using Spans = std::map<std::pair<uint32_t, uint32_t>, CallSpan>;  // by lane and call

void add_record(const Event& event, uint16_t without, Spans& spans) {
  const rf_record& record = event.record;
  if (!communicates(record.library) || record.flags & without) return;
  if (record.phase != RF_PHASE_ENTER && !leaves(record.phase)) return;
  CallSpan& span = spans[{event.lane, record.call}];
  span.lane = event.lane;
  span.op = record.op;
  span.library = record.library;
  if (record.comm != RF_NO_COMM) span.comm = record.comm;
  if (record.phase == RF_PHASE_ENTER) {
    span.enter = record.time_ns;
  } else if (span.leave == 0) {  // an ERROR of pending work may follow its ENQUEUE
    span.leave = record.time_ns;
    span.phase = record.phase;
    span.result = record.phase == RF_PHASE_ENQUEUE ? 0 : record.tag_or_result;
  } else if (record.phase == RF_PHASE_ERROR) {
    span.phase = record.phase;
    span.result = record.tag_or_result;
  }
}

void add_state(const LaneView& lane, uint16_t without, Spans& spans) {
  const rf_state& state = lane.state;
  if (state.where != RF_INSIDE || !communicates(state.library) || state.flags & without) return;
  CallSpan& span = spans[{lane.index, state.call}];
  if (span.leave != 0) return;
  span = {lane.index, state.op, state.comm, state.since_ns, 0, RF_PHASE_ENTER, 0, state.library};
}

}  // namespace

std::vector<CallSpan> call_spans(const ProcessView& process, bool with_executions) {
  const uint16_t without = with_executions ? 0 : RF_CALL_EXECUTION;
  Spans spans;
  for (const Event& event : process.events().value_or(std::vector<Event>{}))
    add_record(event, without, spans);
  for (const LaneView& lane : process.lanes) add_state(lane, without, spans);
  std::vector<CallSpan> out;
  for (auto& [key, span] : spans) out.push_back(span);
  std::stable_sort(out.begin(), out.end(),
                   [](const CallSpan& a, const CallSpan& b) { return a.enter < b.enter; });
  return out;
}

// Saved records may have gaps. Of each lane, only the records after its last gap count.
TimeNs records_begin(const ProcessView& process) {
  constexpr uint64_t kTorn = 2;  // a record that was never whole is not a gap
  if (process.history_lost == 0) return 0;
  struct Oldest {
    uint64_t index;
    TimeNs time;
    bool broken;
  };
  std::map<uint32_t, Oldest> lanes;
  const std::vector<Event> events = process.events().value_or(std::vector<Event>{});
  for (auto e = events.rbegin(); e != events.rend(); ++e) {
    Oldest& oldest = lanes.try_emplace(e->lane, Oldest{e->index, e->record.time_ns, false}).first->second;
    oldest.broken = oldest.broken || oldest.index > e->index + kTorn;
    if (!oldest.broken) oldest = {e->index, e->record.time_ns, false};
  }
  TimeNs begin = events.empty() ? UINT64_MAX : 0;
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
