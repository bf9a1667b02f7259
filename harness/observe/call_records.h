// call_records: what one record says of its call. Everything that puts calls together from records asks here.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "harness/observe/timeline.h"

namespace rankfault {

inline bool is_message(uint16_t op) { return op >= RF_OP_SEND && op <= RF_OP_PROBE; }

// The communicator of that identity in this process; null: it has none.
inline const CommView* comm_with_id(const ProcessView& process, uint64_t comm_id) {
  for (const CommView& comm : process.comms)
    if (comm.id == comm_id) return &comm;
  return nullptr;
}

enum class CallStatus : uint8_t {
  kInside,    // entered, not left
  kReturned,  // with success; a nonblocking call: seen complete
  kFailed,    // left, or completed, with an error
  kPending,   // nonblocking and returned; its work was not seen complete
};

// The name of a call within its process.
struct CallKey {
  uint32_t lane = 0, number = 0;
};

inline CallKey key_of_origin(uint64_t origin) {  // RF_ORIGIN
  return {static_cast<uint32_t>(origin >> 32), static_cast<uint32_t>(origin)};
}

// Whether the record names its call by RF_ORIGIN: the end of pending work may be seen on another lane.
inline bool names_its_origin(const rf_record& r) {
  return (r.phase == RF_PHASE_COMPLETE || r.phase == RF_PHASE_ERROR) && r.op == RF_OP_NONE && r.where != 0;
}

inline CallKey call_of(const Event& event) {
  const rf_record& r = event.record;
  return names_its_origin(r) ? key_of_origin(r.where) : CallKey{event.lane, r.call};
}

// Returns the status that the record gives to its call; nothing for a mark and for a detail. The record of
// the end of the work may precede the record of the leave. Therefore only a call that is inside becomes
// pending.
inline std::optional<CallStatus> status_by(const rf_record& r) {
  switch (r.phase) {
    case RF_PHASE_ENTER:
      return CallStatus::kInside;
    case RF_PHASE_EXIT:
      return r.tag_or_result == 0 ? CallStatus::kReturned : CallStatus::kFailed;
    case RF_PHASE_ENQUEUE:
      return CallStatus::kPending;
    case RF_PHASE_COMPLETE:
      return CallStatus::kReturned;
    case RF_PHASE_ERROR:
      return CallStatus::kFailed;
    default:
      return std::nullopt;
  }
}

// The calls of a process while they are put together. `Call` is made from a CallKey and has number().
template <typename Call>
class LaneCalls {
 public:
  std::vector<Call>& of(uint32_t lane) { return lanes_[lane]; }
  const auto& lanes() const { return lanes_; }

  // Returns null if the lane has no call with this number. The newest call is asked for most often, so it is
  // compared first.
  Call* find(CallKey key) {
    if (key.lane > RF_MAX_LANES) return nullptr;
    std::vector<Call>& calls = lanes_[key.lane];
    if (!calls.empty() && calls.back().number() == key.number) return &calls.back();
    const auto at = place(calls, key.number);
    return at != calls.end() && at->number() == key.number ? &*at : nullptr;
  }

  // Returns the call, and whether it is new; null for a lane that no record can have.
  std::pair<Call*, bool> add(CallKey key) {
    if (key.lane > RF_MAX_LANES) return {nullptr, false};
    std::vector<Call>& calls = lanes_[key.lane];
    if (calls.empty() || calls.back().number() < key.number) return {&calls.emplace_back(key), true};
    const auto at = place(calls, key.number);
    if (at->number() == key.number) return {&*at, false};
    return {&*calls.emplace(at, key), true};
  }

 private:
  static auto place(std::vector<Call>& calls, uint32_t number) {
    return std::lower_bound(calls.begin(), calls.end(), number,
                            [](const Call& call, uint32_t n) { return call.number() < n; });
  }

  std::array<std::vector<Call>, RF_MAX_LANES + 1> lanes_;  // each by number: numbers increase along a lane
};

}  // namespace rankfault
