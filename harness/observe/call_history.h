// CallHistory: the calls of one process, put together from its records, for the judge, the faults and the
// reports.
//
// The diagnosis puts its calls together itself (diagnose/model/calls.h), because it makes many at each look.
// Both ask call_records.h what a record says of its call. docs/internals/diagnosis.md lists what differs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/observe/call_records.h"
#include "harness/observe/library_traits.h"

namespace rankfault {

// One call, put together from its records. A pointer is null while the call has no such record.
class RecordedCall {
 public:
  explicit RecordedCall(CallKey key) : lane_(key.lane), number_(key.number) {}

  const rf_record* enter = nullptr;
  const rf_record* leave = nullptr;       // EXIT, ENQUEUE or ERROR: its thread left the call
  const rf_record* completion = nullptr;  // COMPLETE or ERROR of the work that was pending then
  const rf_state* open = nullptr;         // with OpenCalls::kByStates: its lane says that it is inside

  uint32_t lane() const { return lane_; }
  uint32_t number() const { return number_; }
  // The record that has its arguments; null if only the state of its lane shows it.
  const rf_record* arguments() const { return enter ? enter : leave ? leave : completion; }
  uint16_t op() const { return arguments() ? arguments()->op : open->op; }
  uint8_t library() const { return arguments() ? arguments()->library : open->library; }
  const LibraryTraits& traits() const { return traits_of(library()); }
  uint16_t flags() const { return arguments() ? arguments()->flags : open->flags; }
  uint32_t comm() const { return arguments() ? arguments()->comm : open->comm; }
  uint64_t seq() const;  // the last that a record has: a library may give it while the call is open
  Instant entered() const;
  Instant left() const { return leave ? instant_of(leave->time_ns) : Instant{}; }
  int32_t result() const { return leave ? leave->tag_or_result : 0; }
  CallStatus status() const;
  // How its thread left the call. Pending work may end differently later.
  bool left_with_success() const { return leave && status_by(*leave) == CallStatus::kReturned; }
  bool left_with_error() const { return leave && status_by(*leave) == CallStatus::kFailed; }

 private:
  uint32_t lane_, number_;
};

// A place in the order of a communicator, as one process filled it.
struct FilledPlace {
  const RecordedCall* call = nullptr;  // the first at that place
  bool succeeded = false;              // it, or a wait for it, which has the same place
};

// Which calls count as inside. kByRecords: the calls without an end on record. kByStates: also a call that
// only the state of its lane shows.
enum class OpenCalls { kByRecords, kByStates };

class CallHistory {
 public:
  // Keeps a reference to the process.
  explicit CallHistory(const ProcessView&, OpenCalls = OpenCalls::kByRecords);
  CallHistory(const CallHistory&) = delete;

  const ProcessView& process() const { return process_; }
  const std::vector<RecordedCall>& calls() const { return calls_; }  // all, by (lane, number)
  const RecordedCall* find(CallKey) const;

  // The calls for which `want` holds, in the order in which their threads entered them, or left them.
  template <typename Want>
  std::vector<const RecordedCall*> entered(Want want) const {
    return in_order(&RecordedCall::enter, want);
  }
  template <typename Want>
  std::vector<const RecordedCall*> left(Want want) const {
    return in_order(&RecordedCall::leave, want);
  }

  // The path that a call on a file or segment names; of a call of CUDA caller and callee ("nccl:cudaMalloc");
  // null: none on record.
  const std::string* path_of(const RecordedCall&) const;
  // The file calls of that operation that have an end and a path on record, in the order of their ends.
  std::vector<const RecordedCall*> file_calls(uint16_t op) const;

  // What the process did at this place of the communicator. No messages, no executions: they have no place.
  std::optional<FilledPlace> at_place(uint64_t comm_id, uint64_t seq) const;

 private:
  template <typename Want>
  std::vector<const RecordedCall*> in_order(const rf_record* RecordedCall::*by, Want want) const {
    std::vector<const RecordedCall*> found;
    for (const RecordedCall& call : calls_)
      if (call.*by && want(call)) found.push_back(&call);
    std::sort(found.begin(), found.end(), [by](const auto* a, const auto* b) { return a->*by < b->*by; });
    return found;
  }
  const std::vector<Event>& records();

  const ProcessView& process_;
  std::vector<Event> read_;  // where the view does not hold the records itself
  std::vector<RecordedCall> calls_;
};

}  // namespace rankfault
