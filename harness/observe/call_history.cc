#include "harness/observe/call_history.h"

#include <algorithm>

namespace rankfault {
namespace {

void take(const Event& event, LaneCalls<RecordedCall>& lanes) {
  const rf_record& record = event.record;
  const std::optional<CallStatus> status = status_by(record);
  if (!status) return;
  RecordedCall* call = lanes.add(call_of(event)).first;
  if (!call) return;
  if (status == CallStatus::kInside) {
    if (!call->enter) call->enter = &record;
  } else if (names_its_origin(record) || record.phase == RF_PHASE_COMPLETE || call->leave) {
    call->completion = &record;
  } else {
    call->leave = &record;
  }
}

void take(const LaneView& lane, LaneCalls<RecordedCall>& lanes) {
  if (lane.state.where != RF_INSIDE) return;
  RecordedCall* call = lanes.add({lane.index, lane.state.call}).first;
  if (call && !call->leave) call->open = &lane.state;
}

bool has_a_place(const RecordedCall& call) {
  return call.arguments() && call.seq() != 0 && !(call.flags() & RF_CALL_EXECUTION) && !is_message(call.op());
}

// The records of a process lie in one array, in their order.
bool earlier(const RecordedCall& a, const RecordedCall& b) { return a.arguments() < b.arguments(); }

}  // namespace

uint64_t RecordedCall::seq() const {
  for (const rf_record* record : {completion, leave, enter})
    if (record && record->seq != 0) return record->seq;
  return open ? open->seq : 0;
}

Instant RecordedCall::entered() const {
  return enter ? instant_of(enter->time_ns) : open ? instant_of(open->since_ns) : Instant{};
}

CallStatus RecordedCall::status() const {
  const rf_record* const last = completion ? completion : leave;
  return last ? *status_by(*last) : CallStatus::kInside;
}

CallHistory::CallHistory(const ProcessView& process, OpenCalls open) : process_(process) {
  LaneCalls<RecordedCall> lanes;
  for (const Event& event : records()) take(event, lanes);
  if (open == OpenCalls::kByStates)
    for (const LaneView& lane : process.lanes) take(lane, lanes);
  for (const std::vector<RecordedCall>& lane : lanes.lanes())
    calls_.insert(calls_.end(), lane.begin(), lane.end());
}

const std::vector<Event>& CallHistory::records() {
  if (!process_.source) return process_.history;
  read_ = process_.source->events().value_or(std::vector<Event>{});
  return read_;
}

const RecordedCall* CallHistory::find(CallKey key) const {
  const auto wanted = std::pair(key.lane, key.number);
  const auto at = std::lower_bound(
      calls_.begin(), calls_.end(), wanted,
      [](const RecordedCall& call, const auto& k) { return std::pair(call.lane(), call.number()) < k; });
  return at != calls_.end() && std::pair(at->lane(), at->number()) == wanted ? &*at : nullptr;
}

// A call may make its name (mkstemp): its end has it.
const std::string* CallHistory::path_of(const RecordedCall& call) const {
  const rf_record* const record = call.leave ? call.leave : call.enter;
  if (!record || !(rf_is_inner(record->op) || traits_of(record->library).is_of_files)) return nullptr;
  const auto name = process_.name_at.find(static_cast<uint32_t>(record->seq));
  return name == process_.name_at.end() ? nullptr : &name->second;
}

std::vector<const RecordedCall*> CallHistory::file_calls(uint16_t op) const {
  return left([&](const RecordedCall& call) { return call.op() == op && path_of(call); });
}

std::optional<FilledPlace> CallHistory::at_place(uint64_t comm_id, uint64_t seq) const {
  const CommView* const comm = comm_with_id(process_, comm_id);
  if (!comm) return std::nullopt;
  FilledPlace place;
  for (const RecordedCall& call : calls_) {
    if (call.seq() != seq || !has_a_place(call) || call.comm() != comm->index) continue;
    const bool first = !place.call || (call.op() != RF_OP_NONE &&
                                       (place.call->op() == RF_OP_NONE || earlier(call, *place.call)));
    if (first) place.call = &call;
    place.succeeded = place.succeeded || call.status() == CallStatus::kReturned;
  }
  return place.call ? std::optional(place) : std::nullopt;
}

}  // namespace rankfault
