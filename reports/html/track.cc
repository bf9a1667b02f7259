#include "reports/html/track.h"

namespace rankfault::html {
namespace {

CallState state_of(const RecordedCall& call) {
  const CallStatus status = call.status();
  if (status == CallStatus::kInside) return CallState::kInside;
  if (status == CallStatus::kPending) return CallState::kPending;
  const bool failed = status == CallStatus::kFailed;
  const bool has_work = call.completion && call.leave && status_by(*call.leave) == CallStatus::kPending;
  if (has_work) return failed ? CallState::kWorkFailed : CallState::kWorkDone;
  return failed ? CallState::kFailed : CallState::kReturned;
}

bool has_work(CallState state) { return state == CallState::kWorkDone || state == CallState::kWorkFailed; }
bool failed(CallState state) { return state == CallState::kFailed || state == CallState::kWorkFailed; }

}  // namespace

uint32_t Track::row_of(uint32_t lane) {
  return rows_.try_emplace(lane, static_cast<uint32_t>(rows_.size())).first->second;
}

void Track::add(const RecordedCall& call, Instant& last_progress) {
  const CallState state = state_of(call);
  const rf_record* const out = call.leave ? call.leave : call.completion;
  const uint64_t begin = std::max(clock_.ticks(begin_of(call)), begin_);
  const uint64_t end = out ? std::max(clock_.ticks(out->time_ns), begin) : 0;
  packed.put(begin - begin_);
  packed.put(out ? end - begin + 1 : 0);
  begin_ = begin;
  const uint32_t shape = shapes_.number_of(history_, call, row_of(call.lane()));
  packed.put(uint64_t{shape} * 8 + static_cast<uint64_t>(state));
  const uint64_t seq = history_.path_of(call) ? 0 : call.seq();  // of a file call it is the place of a path
  uint64_t& before = seq_[shape];
  packed.put_signed(static_cast<int64_t>(seq - before));
  before = seq;
  if (has_work(state)) packed.put(std::max(clock_.ticks(call.completion->time_ns), end) - end);
  if (failed(state)) packed.put_signed(call.completion ? call.completion->tag_or_result : call.result());
  const uint64_t did[] = {digest, shape, static_cast<uint64_t>(state), seq};
  digest = rf_hash_bytes(0, did, sizeof did);
  const rf_record* const last = call.completion ? call.completion : call.leave;
  const CallClass kind = class_of(call.op());
  if (kind != CallClass::kCollective && kind != CallClass::kMessage) return;
  if (last && (state == CallState::kReturned || state == CallState::kWorkDone))
    last_progress = std::max(last_progress, instant_of(last->time_ns));
}

}  // namespace rankfault::html
