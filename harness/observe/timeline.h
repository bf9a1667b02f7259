// Timeline: all flight records and process ends of a run, on one clock. Diagnosis is a function of this
// alone: it gets no plan, no actions, no sources of exit statuses.
//
// The state (lanes, communicators, ends) is whole at any look. The history is not: only the newest records of
// each lane are kept (lane_window.h), and a ring may have overwritten records before they were read.
//   ProcessView::events()     all lanes, ordered by (time, lane, index); it has no record of a call before
//                             LaneView::first, and no mark and no point of libc before LaneView::first_mark
//   ProcessView::history_lost number of records that were ever claimed but are not in events()
//   ProcessView::marks_lost   how many of these may have been marks; nothing: possibly all of them
// Code that concludes from the absence of a record must check history_lost == 0 (for marks:
// may_have_lost_marks()). The sums of a communicator (entered, completed, sends, receives, calls) count all
// calls, including lost ones.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/agent/agent_abi.h"
#include "harness/base/json.h"
#include "harness/base/op_names.h"
#include "harness/base/process_id.h"
#include "harness/base/result.h"
#include "harness/base/time.h"

namespace rankfault {

// A communicator as one process sees it. `id` is equal on all members.
struct CommView {
  uint32_t index = 0;  // its number (rf_comm.number), by which records and states name it
  uint64_t id = 0, parent = 0, parent_seq = 0, members_hash = 0;
  uint64_t entered = 0, completed = 0, issuers = 0;
  uint64_t sends = 0, receives = 0;
  uint64_t calls = 0;     // sum over the calls that took a place in the order (rf_comm.calls)
  uint64_t failures = 0;  // calls that failed on it; 0 although `error` is set: not counted
  Duration timeout{};
  uint64_t started = 0;  // last seq whose work was seen running, if a recorder reports it; not in the journal
  uint32_t size = 0, flags = 0, ordinal = 0, tag = 0, error = 0;
  int rank = -1;
  bool destroyed = false;
  rf_library library = RF_LIB_NONE;
  rf_identity identity = RF_ID_NONE;
  std::string name;
  std::vector<int> members;  // world ranks, when known
};

// A lane's whole state at the look.
struct LaneView {
  uint32_t index = 0;
  rf_lane_kind kind = RF_LANE_FREE;
  uint64_t owner = 0;
  uint64_t head = 0, dropped = 0;
  uint64_t first = 0, first_mark = 0;  // indices: the history has no call, and no mark, before them
  rf_state state{};
  char thread_state = 0;       // R S D T Z, from /proc, 0 unknown; proves nothing
  Instant polled;              // when it last tested, without waiting, for data that had not come
  std::vector<uint64_t> torn;  // records below head that were claimed but not whole at the look
};

// One history record, with its lane. It keeps the ring's own form: rules read it as it was written.
struct Event {
  uint32_t lane = 0;
  uint64_t index = 0;
  rf_record record{};
};

// A history that is put together on request: from an observer's memory, which it shares, or, for jobs too
// large for memory, from files. It does not change.
class HistorySource {
 public:
  virtual ~HistorySource() = default;
  // In the order of ProcessView::history; nothing when the files can no longer be read.
  virtual std::optional<std::vector<Event>> events() const = 0;
};

enum class EndKind { kAlive, kEnded };

struct ProcessEnd {  // as data: time and status, never the source
  EndKind kind = EndKind::kAlive;
  Instant time;
  bool status_known = false;
  bool by_signal = false;
  int value = 0;
  // When it was last seen alive, with nothing about to end it, directly after the death of another process.
  Instant outlived = {};
  bool execed = false;  // the process lives on as another program, which knows nothing of its calls
  std::vector<std::string> last_words = {};  // the end of its own output, when it ended badly; secrets masked
  // After SIGKILL: where the kernel counted a kill by its out-of-memory killer, as "memory group /job" or
  // "this machine"; "" if it counted none.
  std::string oom_kill_in = {};
  bool operator==(const ProcessEnd&) const = default;
};

// A time in state T, from the first to the last look that saw it. It may have begun earlier and lasted
// longer.
struct Stop {
  Instant first_seen, last_seen;
  bool operator==(const Stop&) const = default;
};

struct Coverage {
  rf_library library = RF_LIB_NONE;
  rf_hook hook = RF_HOOK_NONE;
  uint32_t version = 0;
  std::string decoder, reason;
};

struct ProcessView {
  ProcessId id;
  rf_stage stage = RF_STAGE_STRANGER;
  int rank = -1;  // claimed
  int world_size = -1;
  int attempt = 0;
  std::vector<int32_t> ancestors;  // pids, its parent first; read from records, not in the journal
  bool spawned = false;            // by MPI_Comm_spawn; read from records, not in the journal
  std::string node;                // the host that it is on, by its own name; "": the host of the tool
  Duration clock_error{};          // its times differ from the tool's clock by no more than this
  Instant unheard_since;           // its node does not answer since then: what it did afterwards is not known
  bool helper = false;             // not a rank of the job, whatever it claims (helpers.h)
  uint32_t generation = 0;
  uint32_t partial = 0, opaque = 0;
  bool thread_multiple = false;
  bool polled = false;   // the choice of its calls may depend on when messages came
  uint32_t threads = 0;  // at the look; 0: not known
  std::vector<uint32_t>
      own_threads;  // ids of the threads that MPI made for itself, as far as that is certain
  uint64_t steps_begun = 0, steps_committed = 0;  // last step + 1
  Instant opened, member;
  bool stopped = false;     // state T at the look
  std::vector<Stop> stops;  // the newest few, in order; the last one is open while `stopped`
  bool dying = false;       // at the look it exits, or a signal that ends it is pending
  Instant busy_at;          // when it, or one of its helpers, was last seen using CPU time
  // How long one of its threads was ready but had no core since the job last moved; 0: not measured.
  Duration starved{};
  Instant measured_since;  // since when `starved` is measured
  bool stable = true;      // two readings of its state words agreed
  std::vector<Coverage> coverage;
  std::vector<LaneView> lanes;
  std::vector<CommView> comms;
  std::vector<Event> history;                   // all lanes, ordered by (time, lane, index)
  std::shared_ptr<const HistorySource> source;  // if set, `history` is empty and this has the records
  uint64_t history_lost = 0;  // records that are not in it: overwritten unread, or let go by the window
  std::optional<uint64_t> marks_lost;       // of these, the number that may have been marks or points of libc
  std::map<uint32_t, std::string> name_at;  // offset -> text, every name used by a record above
  ProcessEnd end;
  // Return address -> "module+0x...": equal wherever the same file is loaded, so that sequences are compared
  // by it.
  std::map<uint64_t, std::string> call_sites;
  std::map<uint64_t, std::string> source_lines;  // the same for people: "file.cc:12" or "function+0x..."

  const CommView* comm(uint32_t index) const;
  bool may_have_lost_marks() const { return marks_lost.value_or(history_lost) != 0; }
  std::optional<std::vector<Event>> events() const;  // from `history` or `source`; nothing when they cannot
                                                     // be read
};

struct ExpectedRank {  // from the launcher: ranks that should exist, whether or not they announced themselves
  int rank = 0;
  int attempt = 0;
  bool started = false;  // a process for it is known to have been started
  bool unread = false;   // it left a record that cannot be read: its actions are unknown
};

// How the commands that were started for the job ended: its launcher, or each rank.
enum class JobStatus { kRunning, kAllZero, kNotAllZero };

struct Timeline {
  Instant begin;  // of the run
  Instant look;   // the instant that this Timeline describes
  int world_size = 0;
  int attempt = 0;                             // the newest
  bool consistent = true;                      // two readings of every state agreed
  bool job_over = false;                       // every process of the job had ended by itself at the look
  JobStatus job_status = JobStatus::kRunning;  // at the look
  bool launcher_ends_all = false;      // one launcher started all ranks, and ends them when one ended badly
  std::vector<ProcessView> processes;  // members and candidates, ordered by (attempt, rank, id)
  std::vector<ExpectedRank> expected;

  // The rank's member, else its candidate, else null; never a helper.
  const ProcessView* rank(int attempt, int rank) const;
};

// The state words of a look as one journal line, and back. diagnose() returns the same bytes for the line's
// Timeline and for the live one. The line has no histories: they are cut from the rings at `look` when a run
// is read again.
Json state_to_json(const Timeline&);
Result<Timeline> state_from_json(const Json&);

bool is_collective(uint16_t op);  // of data or barrier, not init or free

}  // namespace rankfault
