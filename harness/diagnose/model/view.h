// JobView: the Timeline of the newest attempt, joined. It assembles calls from their records, and
// communicators from the views of their members.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/observe/call_records.h"
#include "harness/observe/library_traits.h"
#include "harness/observe/timeline.h"

namespace rankfault {

constexpr int kTagUnknown = INT32_MIN;

// The arguments of a call. A process makes few different calls many times, so equal calls share one shape:
// the arguments of all calls of a job of 16,384 ranks do not fit in memory.
struct CallShape {
  uint16_t op = RF_OP_NONE, flags = 0;
  uint8_t library = 0, dtype = 0, reduce_op = 0;
  uint32_t comm = RF_NO_COMM;  // index in its process
  int peer = RF_PEER_NONE, recv_peer = RF_PEER_NONE, tag = 0, recv_tag = kTagUnknown, result = 0;
  int stream = 0;  // for NCCL: identifies a stream within its process; 0: its position is unknown
  uint64_t count = 0, where = 0;
  // Only of an open call, and of a nonblocking call whose record has the mask (mask_known):
  uint64_t needs_mask = 0;
  bool mask_known = false;
  // Only of an open call:
  Instant deadline;
  uint32_t pending_count = 0;  // number of requests it waits for; Process::waits_for names the known ones

  bool operator==(const CallShape&) const = default;
};

// One call of one process, from its records and, while it is open, its lane's state.
struct Call {
  using Status = CallStatus;
  const CallShape* shape = nullptr;  // of its process
  uint64_t seq = 0;
  uint64_t step = 0;  // last step that its process began before it, + 1; 0: none
  Instant entered, left;
  uint32_t number = 0;
  uint8_t lane = 0;
  Status status = Status::kInside;

  uint16_t op() const { return shape->op; }
  uint16_t flags() const { return shape->flags; }
  uint8_t library() const { return shape->library; }
  const LibraryTraits& traits() const { return traits_of(shape->library); }
  uint8_t dtype() const { return shape->dtype; }
  uint8_t reduce_op() const { return shape->reduce_op; }
  uint32_t comm() const { return shape->comm; }
  int peer() const { return shape->peer; }
  int recv_peer() const { return shape->recv_peer; }
  int tag() const { return shape->tag; }
  int recv_tag() const { return shape->recv_tag; }
  int result() const { return shape->result; }
  int stream() const { return shape->stream; }
  uint64_t count() const { return shape->count; }
  uint64_t bytes() const;  // of `count` elements; an unknown type counts as one byte
  uint64_t where() const { return shape->where; }
  uint64_t needs_mask() const { return shape->needs_mask; }
  bool mask_known() const { return shape->mask_known; }
  Instant deadline() const { return shape->deadline; }
  uint32_t pending_count() const { return shape->pending_count; }

  bool open() const { return status == Status::kInside; }
  bool succeeded() const { return status == Status::kReturned; }
};

struct CommGroup;
struct Member;

struct Process {
  const ProcessView* view = nullptr;
  std::vector<CallShape> shapes;  // of its calls
  std::vector<std::pair<const CommGroup*, const Member*>>
      seats;                                            // its communicators, in the order of comms()
  std::vector<Call> calls;                              // all, by (lane, number)
  std::map<uint32_t, std::vector<uint64_t>> waits_for;  // lane -> the RF_ORIGINs that its open wait names
  bool stable = true;

  int rank() const { return view->rank; }
  bool ended() const { return view->end.kind == EndKind::kEnded; }
  bool ended_with_0() const {
    return ended() && view->end.status_known && !view->end.by_signal && view->end.value == 0;
  }
  // The process died, or ended with an error or with an unknown status.
  bool ended_badly() const { return ended() && !ended_with_0(); }
  bool helper() const { return view->helper; }  // in the view only for what it shares with ranks
  bool member() const { return view->stage >= RF_STAGE_MEMBER; }
  bool has_streams() const;  // its record describes streams and comes from a recorder inside the process
  const Call* find(uint32_t lane, uint32_t number) const;
  const Call* inside(uint32_t lane) const;  // the open call of a lane, or null
  std::vector<const Call*> all_inside() const;
  // Returns the call that a lane is in because this one has not completed: the call itself, or a wait that
  // names it; else null.
  const Call* held_by(const Call&) const;
};

enum class Known { kNo, kYes, kUnknown };

// A communicator's member. Either pointer may be null: the process was not seen, or its record does not have
// the communicator.
struct Member {
  int rank = 0;  // in the communicator
  int world_rank = -1;
  const Process* process = nullptr;
  const CommView* comm = nullptr;
  std::vector<const Call*> calls;  // matched by position, in order of seq; without executions and refused
  // From this place on, the places in the library's order are uncertain because a call failed (places.h); 0:
  // all are known.
  uint64_t unsure_from = 0;
  const Call* first_failed = nullptr;  // the first that took a place; null if an earlier one may be lost
  int64_t shift = 0;  // difference between the newest calls' places and the member's own count, because
                      // refused calls took no place
  int64_t may_be_lower = 0, may_be_higher = 0;  // by how much those places may be wrong

  const Call* at(uint64_t seq) const;
  uint64_t last_entered() const;
  Known entered(uint64_t seq) const;
  uint64_t least_place(const Call&) const;  // the lowest place that the call may have
};

struct CommGroup {
  uint64_t id = 0;
  std::string name;  // "world", the library's name, or "size 2 of ranks 0 1"
  uint32_t size = 0;
  uint32_t flags = 0;
  rf_library library = RF_LIB_NONE;
  uint32_t ordinal = ~0u;                 // the smallest that a member knows it by
  std::vector<Member> members;            // the smallest ordinal that a member has for it
  std::vector<const Member*> unfinished;  // members with a call that did not return success
  mutable std::optional<uint64_t>
      differs_from;  // first_difference() (first_difference.h), kept once it was asked for
  // The first place at which calls are no longer paired: before it, a member revoked the communicator or
  // began to repair it after a failure; 0: none.
  uint64_t broken_from = 0;
  bool revoked = false;  // by a member: each call on it returns

  const LibraryTraits& traits() const { return traits_of(library); }
  const Member* of(const Process&) const;  // its first: a process with several devices has one for each
  const Member* of(const Process&, uint32_t comm_index) const;
  uint64_t first_seq() const;  // the smallest seq that is still recorded for every member
};

struct Divergence;         // sequences.h
struct JobBeforeTimeouts;  // before_timeouts.h
struct Waits;              // waits.h
struct UnmatchedMessage;   // unmatched_messages.h
struct StrictWait;         // strict_replay.h
struct LateRank;           // late_ranks.h
struct StreamKnot;         // stream_order.h
struct DiagnoseOptions;

class JobView {
 public:
  explicit JobView(const Timeline&);
  JobView(const JobView&) = delete;

  const Timeline& timeline() const { return timeline_; }
  int attempt() const { return timeline_.attempt; }
  const std::vector<std::unique_ptr<Process>>& processes() const { return processes_; }
  const std::vector<CommGroup>& comms() const { return comms_; }
  const Process* rank(int world_rank) const;
  const CommGroup* group(const Process&, uint32_t comm_index) const;

  // Where members stop making the same calls. Computed when a rule first asks, then cached.
  const std::vector<Divergence>& divergences() const;
  // Which rank waits for which (waits.h). Also cached.
  const Waits& waits() const;
  // Messages that never come (unmatched_messages.h). Also cached.
  const std::vector<UnmatchedMessage>& unsent() const;
  // The cycle in which a finished job would hang if MPI buffered nothing (strict_replay.h). Also cached. None
  // while the job runs, and if the record does not determine it.
  const std::optional<std::vector<StrictWait>>& strict_cycle() const;
  // If the job hung in a deadlock that the ranks' own limits ended: the job as it hung (before_timeouts.h);
  // else this job. Also cached.
  const JobView& before_timeouts() const;
  // late_ranks.h and stream_order.h: cached for one set of options.
  const std::vector<LateRank>& late_ranks(const DiagnoseOptions&) const;
  const StreamKnot& stream_knot(const DiagnoseOptions&) const;

 private:
  void take_processes();
  void find_ranks();
  void join_comms();
  mutable std::shared_ptr<const std::vector<Divergence>> divergences_;
  mutable std::shared_ptr<const Waits> waits_;
  mutable std::shared_ptr<const std::vector<UnmatchedMessage>> unsent_;
  mutable std::shared_ptr<const std::optional<std::vector<StrictWait>>> strict_;
  mutable std::shared_ptr<const JobBeforeTimeouts> hung_;
  struct LateRanks;
  struct KnownKnot;
  mutable std::shared_ptr<const LateRanks> late_;
  mutable std::shared_ptr<const KnownKnot> knot_;
  const Timeline& timeline_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::unordered_map<int, const Process*> by_rank_;
  std::vector<CommGroup> comms_;
  std::unordered_map<uint64_t, const CommGroup*> by_id_;
};

// Whether the operation takes a place in its communicator's order.
bool is_positional(uint16_t op);

// Returns the only lane that made calls on the communicator. Returns none if no lane or several lanes did, or
// one without a bit of its own (RF_COMM_ISSUER_OVERFLOW).
std::optional<uint32_t> only_issuer(const CommView&);

}  // namespace rankfault
