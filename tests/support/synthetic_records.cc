#include "tests/support/synthetic_records.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "harness/base/assert.h"
#include "harness/journal/journal_line.h"
#include "harness/observe/arrange.h"
#include "harness/observe/ring_reader.h"
#include "tests/observe/ring_file_writer.h"

namespace rankfault::testing {
namespace {

using Broken = SyntheticJob::Broken;
using Planned = ParallelJob::Planned;
using Made = ParallelJob::Made;

constexpr int64_t kEpoch = 1'700'000'000'000'000'000;
constexpr Duration kWait = 30s;  // between the last call and the look
constexpr uint64_t kCode = 0x401000;

const std::vector<Trouble> kTroubles = {
    {"nothing", "none", Broken::kNothing, Fate::kFinalizes, false},
    {"missing_call", "missing_call", Broken::kSkipped, Fate::kRuns},
    {"extra_call", "extra_call", Broken::kExtra, Fate::kRuns},
    {"call_mismatch", "call_mismatch", Broken::kOtherSize, Fate::kRuns},
    {"equal_counters", "call_mismatch", Broken::kSizeOfAll, Fate::kRuns},
    {"dead_rank", "dead_rank", Broken::kHostStuck, Fate::kKilled},
    {"exited_rank", "exited_rank", Broken::kHostStuck, Fate::kExits},
    {"stopped_rank", "stopped_rank", Broken::kHostStuck, Fate::kStopped},
    {"slow_rank", "slow_rank", Broken::kHostStuck, Fate::kRuns},
    {"stuck_outside", "stuck_outside", Broken::kHostStuck, Fate::kSleeps},
    {"teardown", "missing_call", Broken::kTeardown, Fate::kFinalizes},
    {"order_deadlock", "order_deadlock", Broken::kOtherOrder, Fate::kRuns},
    {"wedged", "wedged", Broken::kWedged, Fate::kRuns, false},
};

// The machine was started a quarter of an hour before: a clock that is behind shows a positive time, too.
Instant clock_of(int64_t time) { return Instant(900s + Duration(time - kEpoch)); }

uint16_t op_of(const Planned& c) {
  if (!std::strcmp(c.op, "_reduce_scatter_base")) return RF_OP_REDUCE_SCATTER_BLOCK;
  if (!std::strcmp(c.op, "_all_gather_base")) return RF_OP_ALL_GATHER;
  return op_from_text(c.op).value();
}

// One rank's flight record.
class RankRecord {
 public:
  RankRecord(const std::string& folder, const ParallelJob& run, int rank)
      : run_(run),
        rank_(rank),
        skew_(rank % 2 ? run.job().clock_skew_ns : 0),
        id_{1ull + static_cast<uint64_t>(rank % 2), 2, 100'000 + rank, 3, 0},
        ring_(folder, id_, rank, run.job().ranks(), 1) {
    for (const size_t g : run.groups_of(rank)) add_group(g);
    for (size_t i = 0; i < run.made(rank).size(); ++i) add_call(run.program(rank)[i], run.made(rank)[i]);
    ring_.set_state(0, state_);
  }

  // The last call: it takes a place in the order of the world, and needs no other rank.
  void finalize() {
    state_.call += 1;
    state_.seq = ring_.comm(0).entered + 1;
    state_.comm = 0;
    state_.op = RF_OP_FINALIZE;
    state_.where = RF_INSIDE;
    state_.count = 0;
    state_.peer = RF_PEER_NONE;
    enter_on(ring_.comm(0));
    state_.since_ns += 500;
    write(RF_PHASE_ENTER, state_.since_ns);
    ring_.set_state(0, state_);
  }
  void end_in_order() {
    finalize();
    write(RF_PHASE_EXIT, state_.since_ns + 500);
    state_.where = RF_OUTSIDE;
    ring_.set_state(0, state_);
    ring_.header().stage = RF_STAGE_FINALIZED;
  }
  const ProcessId& id() const { return id_; }
  const std::string& path() const { return ring_.path(); }

 private:
  void add_group(size_t g) {
    const ParallelJob::Group& group = run_.groups()[g];
    const auto size = static_cast<int>(group.ranks.size());
    const auto me = std::find(group.ranks.begin(), group.ranks.end(), rank_) - group.ranks.begin();
    const auto index = static_cast<uint32_t>(index_.size());
    index_[g] = index;
    const uint64_t number = g + 1;
    ring_.add_comm(rf_hash_bytes(0, &number, sizeof number), g == 0 ? "MPI_COMM_WORLD" : group.desc, size,
                   static_cast<int>(me));
    rf_comm& c = ring_.comm(index);
    c.library = RF_LIB_MPI;
    c.issuers = 1;
    if (g == 0) return;  // rank r is world rank r
    rf_header& h = ring_.header();
    c.members = h.members_used;
    for (const int r : group.ranks) ring_.member_at(h.members_used++) = r;
  }

  void enter_on(rf_comm& c) {
    c.entered = state_.seq;
    c.calls += rf_call_word(state_.seq, state_.op, state_.peer, state_.flags);
  }

  void add_call(const Planned& planned, const Made& made) {
    rf_comm& c = ring_.comm(index_.at(planned.group));
    const bool message = planned.peer >= 0;
    state_.call += 1;
    state_.comm = index_.at(planned.group);
    state_.op = op_of(planned);
    state_.library = RF_LIB_MPI;
    state_.dtype = RF_DTYPE_BFLOAT16;
    state_.reduce_op = message || state_.op == RF_OP_ALL_GATHER ? RF_REDUCE_OTHER : RF_REDUCE_SUM;
    state_.count = static_cast<uint64_t>(planned.size);
    state_.peer = message ? planned.peer : RF_PEER_NONE;
    state_.recv_peer = RF_PEER_NONE;
    state_.tag = 0;
    state_.seq = static_cast<uint64_t>(made.seq);
    state_.return_address = kCode + state_.op * 256 + state_.comm * 16;
    state_.where = RF_INSIDE;
    state_.since_ns = ns_of(clock_of(made.time + skew_));
    state_.version += 1;
    if (!message) enter_on(c);
    if (message) ++(state_.op == RF_OP_SEND ? c.sends : c.receives);
    write(RF_PHASE_ENTER, state_.since_ns);
    if (!made.completed) return;
    if (!message) c.completed = state_.seq;
    state_.since_ns = ns_of(clock_of(made.completed_at + skew_)) + 100;
    write(RF_PHASE_EXIT, state_.since_ns);
    state_.where = RF_OUTSIDE;
  }

  void write(uint8_t phase, uint64_t time_ns) {
    rf_record& r = ring_.claim(0);
    const uint64_t index = ring_.lane(0).head;
    r.time_ns = time_ns;
    r.seq = state_.seq;
    r.call = state_.call;
    r.op = state_.op;
    r.phase = phase;
    r.library = RF_LIB_MPI;
    r.comm = state_.comm;
    r.peer = state_.peer;
    if (phase == RF_PHASE_ENTER) {
      r.where = state_.return_address;
      r.count = state_.count;
      r.dtype = state_.dtype;
      r.reduce_op = state_.reduce_op;
    }
    RF_STORE(&r.commit, index);
  }

  const ParallelJob& run_;
  int rank_;
  int64_t skew_;
  ProcessId id_;
  RingFileWriter ring_;
  std::map<size_t, uint32_t> index_;
  rf_state state_{};
};

// Fills in what a look sees of a process in addition to its record.
void look_at(ProcessView& p, Fate fate, bool is_over, Instant now) {
  p.threads = 1;  // as /proc shows for a rank
  for (const CommView& c : p.comms)
    for (const uint16_t op :
         {RF_OP_ALL_REDUCE, RF_OP_ALL_GATHER, RF_OP_REDUCE_SCATTER_BLOCK, RF_OP_SEND, RF_OP_RECV})
      p.call_sites[kCode + op * 256u + c.index * 16] =
          "trainer+0x" + std::to_string(op * 256u + c.index * 16);
  p.stopped = fate == Fate::kStopped;
  p.lanes.front().thread_state = fate == Fate::kSleeps ? 'S' : fate == Fate::kStopped ? 'T' : 'R';
  if (fate == Fate::kKilled) p.end = {EndKind::kEnded, now, true, true, 9};
  if (fate == Fate::kExits) p.end = {EndKind::kEnded, now, true, false, 1};
  if (is_over) p.end = {EndKind::kEnded, now, true, false, 0};
}

class JournalFile {
 public:
  explicit JournalFile(const std::string& run_dir) : out_(run_dir + "/journal.ndjson") {}
  void write(Instant time, AnyEvent event) {
    out_ << to_json(JournalLine{++lines_, time, std::move(event)}).dump() << "\n";
  }

 private:
  std::ofstream out_;
  uint64_t lines_ = 0;
};

events::RankEnd end_line(const ProcessView& p) {
  events::RankEnd end;
  end.process = p.id;
  end.rank = p.rank;
  end.time = p.end.time;
  end.kind = p.end.by_signal ? "signal" : "exit";
  end.value = p.end.value;
  return end;
}

}  // namespace

const std::vector<Trouble>& all_troubles() { return kTroubles; }

std::optional<Trouble> trouble_named(const std::string& word) {
  for (const Trouble& t : kTroubles)
    if (t.word == word) return t;
  return std::nullopt;
}

void write_synthetic_records(const std::string& run_dir, SyntheticJob job, const Trouble& trouble) {
  job.ahead = 1;
  job.host_calls = true;
  job.broken = trouble.broken;
  std::filesystem::create_directories(run_dir + "/records");
  const ParallelJob run(job);
  const Instant now = clock_of(run.now()) + 1ms;
  const bool over = job.broken == Broken::kNothing;
  Timeline look;
  look.begin = Instant(1ns);
  look.look = now + kWait;
  look.world_size = job.ranks();
  for (int r = 0; r < job.ranks(); ++r) {
    look.expected.push_back({r, 0, true});
    if (job.is_lost(r)) continue;
    RankRecord record(run_dir + "/records", run, r);
    const Fate fate = job.is_culprit(r) ? trouble.fate : Fate::kRuns;
    if (over) record.end_in_order();
    if (!over && fate == Fate::kFinalizes) record.finalize();
    const auto reader = RingReader::open(record.path());
    RF_ASSERT(reader.ok(), "a record that was just written cannot be read");
    ProcessView view = (*reader)->view();
    look_at(view, fate, over, now);
    look.processes.push_back(std::move(view));
  }
  arrange(look);
  JournalFile journal(run_dir);
  events::RunBegin begin;
  begin.world_size = job.ranks();
  begin.slow_after_ns = 2s;
  events::Look last;
  last.reason = "end";
  last.last = true;
  last.state = state_to_json(look);
  journal.write(look.begin, begin);
  journal.write(look.begin, events::AttemptBegin{});
  journal.write(look.begin, events::Spawned{});
  for (const ProcessView& p : look.processes)
    if (p.end.kind == EndKind::kEnded) journal.write(now, end_line(p));
  journal.write(look.look, last);
  journal.write(look.look, events::RunEnd{});
}

}  // namespace rankfault::testing
