#include "tests/support/timeline_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "harness/diagnose/model/view.h"
#include "harness/observe/state_of_record.h"

namespace rankfault::testing {
namespace {

constexpr Duration kStep = 1us;

}  // namespace

TimelineBuilder::TimelineBuilder(int ranks, rf_library library) : library_(library) {
  std::vector<int> all;
  for (int r = 0; r < ranks; ++r) {
    ProcessView p;
    p.id = {1, 2, 1000 + r, 5, 0};
    p.stage = RF_STAGE_MEMBER;
    p.rank = r;
    p.world_size = ranks;
    p.opened = p.member = now_ + Duration(r);
    p.thread_multiple = library == RF_LIB_GLOO;
    p.threads = 1;
    p.coverage.push_back({library, RF_HOOK_PRELOAD, 0, "double", ""});
    processes_.push_back(std::move(p));
    all.push_back(r);
  }
  comm("world", all);
}

TimelineBuilder& TimelineBuilder::comm(const std::string& name, std::vector<int> ranks) {
  comms_[name] = ranks;
  for (size_t i = 0; i < ranks.size(); ++i) {
    ProcessView& p = rank(ranks[i]);
    CommView c;
    c.index = static_cast<uint32_t>(p.comms.size());
    c.id = rf_hash_text(name.c_str());
    c.size = static_cast<uint32_t>(ranks.size());
    c.rank = static_cast<int>(i);
    c.members = ranks;
    c.ordinal = static_cast<uint32_t>(comms_.size()) - 1;
    c.flags = RF_COMM_POSITIONAL;
    if (name == "world") c.flags |= RF_COMM_WORLD;
    c.library = library_;
    c.identity = RF_ID_DERIVED;
    c.name = name;
    p.comms.push_back(std::move(c));
  }
  return *this;
}

CommView& TimelineBuilder::comm_of(int r, const std::string& name) {
  for (CommView& c : rank(r).comms)
    if (c.name == name) return c;
  RF_ASSERT(false, "the rank is not in that communicator");
}

LaneView& TimelineBuilder::lane_of(int r, uint32_t index) {
  std::vector<LaneView>& lanes = rank(r).lanes;
  while (lanes.size() <= index) {
    LaneView l;
    l.index = static_cast<uint32_t>(lanes.size());
    l.kind = RF_LANE_THREAD;
    l.owner = 5000 + l.index;
    lanes.push_back(l);
  }
  return lanes[index];
}

Event& TimelineBuilder::record(int r, uint32_t lane_index, uint8_t phase) {
  now_ += kStep;
  LaneView& lane = lane_of(r, lane_index);
  Event e;
  e.lane = lane_index;
  e.index = lane.head++;
  e.record.commit = e.index + 1;
  e.record.time_ns = ns_of(now_);
  e.record.phase = phase;
  e.record.comm = RF_NO_COMM;
  rank(r).history.push_back(e);
  return rank(r).history.back();
}

void TimelineBuilder::add(int r, uint32_t lane, const rf_record& copy) {
  rf_record& e = record(r, lane, copy.phase).record;
  const auto [commit, time] = std::pair(e.commit, e.time_ns);
  e = copy;
  e.commit = commit;
  e.time_ns = time;
}

uint32_t TimelineBuilder::enter(int r, const CallSpec& s) {
  LaneView& lane = lane_of(r, s.lane);
  const uint32_t number = lane.state.call + 1;
  CommView& c = comm_of(r, s.comm);
  rank(r).call_sites[s.site] = fmt::format("prog+0x{:x}", s.site);
  const bool sends = s.op == RF_OP_SEND || s.op == RF_OP_SSEND || s.op == RF_OP_SENDRECV;
  const uint64_t seq = is_positional(s.op)  ? ++c.entered
                       : sends              ? ++c.sends
                       : s.op == RF_OP_RECV ? ++c.receives
                                            : 0;
  c.issuers |= uint64_t{1} << s.lane;
  if (is_positional(s.op)) c.calls += rf_call_word(seq, s.op, s.peer, s.flags);
  rf_record& e = record(r, s.lane, RF_PHASE_ENTER).record;
  e.seq = seq;
  e.where = s.site;
  e.count = s.count;
  e.call = number;
  e.comm = c.index;
  e.peer = s.peer;
  e.op = s.op;
  e.library = static_cast<uint8_t>(library_);
  e.dtype = s.dtype;
  e.reduce_op = s.reduce_op;
  e.flags = s.flags;
  e.tag_or_result = s.tag;
  const rf_record entered = e;
  if (s.op == RF_OP_SENDRECV) {
    rf_record more = entered;
    more.phase = RF_PHASE_DETAIL;
    more.peer = s.recv_peer;
    more.tag_or_result = s.recv_tag;
    add(r, s.lane, more);
  }
  constexpr uint16_t kToldLater = RF_CALL_MASK_VALID | RF_CALL_RANK_LOCAL | RF_CALL_NONBLOCKING;
  if ((s.flags & kToldLater) == kToldLater) {
    rf_record owed = entered;
    owed.phase = RF_PHASE_DETAIL;
    owed.where = s.needs_mask;
    add(r, s.lane, owed);
  }
  const rf_state before = lane.state;
  lane.state = state_inside(entered);
  lane.state.needs_mask = s.needs_mask;
  lane.state.recv_peer = s.recv_peer;
  lane.state.version = before.version + 1;
  lane.state.last_result = before.last_result;
  return number;
}

void TimelineBuilder::leave(int r, const CallSpec& s, uint8_t phase, int result) {
  rf_state& state = lane_of(r, s.lane).state;
  rf_record& e = record(r, s.lane, phase).record;
  e.seq = state.seq;
  e.call = state.call;
  e.comm = state.comm;
  e.op = state.op;
  e.library = state.library;
  e.tag_or_result = result;
  state.where = RF_OUTSIDE;
  state.since_ns = ns_of(now_);
  state.last_result = result;
  state.version += 1;
  for (CommView& c : rank(r).comms) {
    if (c.index != state.comm) continue;
    if (is_positional(state.op) && result == 0 && phase != RF_PHASE_ENQUEUE)
      c.completed = std::max(c.completed, state.seq);
    if (result == 0) continue;
    c.error = static_cast<uint32_t>(result);
    ++c.failures;
  }
}

TimelineBuilder& TimelineBuilder::everyone(const CallSpec& s, int times) {
  for (int i = 0; i < times; ++i) {
    for (const int r : comms_[s.comm]) enter(r, s);
    for (const int r : comms_[s.comm]) leave(r, s, RF_PHASE_EXIT, 0);
  }
  return *this;
}

TimelineBuilder& TimelineBuilder::does(int r, const CallSpec& s, int times) {
  for (int i = 0; i < times; ++i) {
    enter(r, s);
    leave(r, s, RF_PHASE_EXIT, 0);
  }
  return *this;
}

TimelineBuilder& TimelineBuilder::blocked(int r, const CallSpec& s) {
  enter(r, s);
  return *this;
}

TimelineBuilder& TimelineBuilder::returns(int r, uint32_t lane, int result) {
  CallSpec s;
  s.lane = lane;
  leave(r, s, result == RF_RESULT_THROWN ? RF_PHASE_ERROR : RF_PHASE_EXIT, result);
  return *this;
}

TimelineBuilder& TimelineBuilder::fails(int r, const CallSpec& s, int result) {
  enter(r, s);
  leave(r, s, result == RF_RESULT_THROWN ? RF_PHASE_ERROR : RF_PHASE_EXIT, result);
  return *this;
}

TimelineBuilder& TimelineBuilder::enqueues(int r, const CallSpec& s) {
  enter(r, s);
  leave(r, s, RF_PHASE_ENQUEUE, 0);
  return *this;
}

uint64_t TimelineBuilder::last_origin(int r, uint32_t lane) {
  return RF_ORIGIN(lane, lane_of(r, lane).state.call);
}

TimelineBuilder& TimelineBuilder::completes(int r, uint64_t origin, const std::string& comm, uint64_t seq) {
  rf_record& e = record(r, 0, RF_PHASE_COMPLETE).record;
  e.where = origin;
  e.call = static_cast<uint32_t>(origin);
  CommView& c = comm_of(r, comm);
  e.comm = c.index;
  e.seq = seq;
  c.completed = std::max(c.completed, seq);
  return *this;
}

TimelineBuilder& TimelineBuilder::waits(int r, const std::vector<uint64_t>& origins, uint16_t op) {
  CallSpec s;
  s.op = op;
  enter(r, s);
  rf_state& state = lane_of(r).state;
  state.pending_count = static_cast<uint32_t>(origins.size());
  for (size_t i = 0; i < 2; ++i) state.pending[i] = i < origins.size() ? origins[i] : 0;
  for (size_t i = 2; i < origins.size(); ++i) {
    rf_record& e = record(r, 0, RF_PHASE_DETAIL).record;
    e.call = state.call;
    e.op = op;
    e.where = origins[i];
  }
  return *this;
}

TimelineBuilder& TimelineBuilder::host_waits(int r, const std::vector<uint64_t>& origins, rf_host_wait in) {
  waits(r, origins, RF_OP_STREAM_WAIT);
  rf_state& state = lane_of(r).state;
  for (Event& e : rank(r).history)
    if (e.lane == 0 && e.record.call == state.call && e.record.phase == RF_PHASE_ENTER) {
      e.record.library = state.library = RF_LIB_CUDA;
      e.record.comm = state.comm = RF_NO_COMM;
      e.record.tag_or_result = state.tag = in;
    }
  return *this;
}

TimelineBuilder& TimelineBuilder::step(int r, uint64_t number) {
  rf_record& e = record(r, 0, RF_PHASE_EVENT).record;
  e.op = RF_OP_STEP_BEGIN;
  e.library = RF_LIB_MARK;
  e.count = number;
  rank(r).steps_begun = number + 1;
  return *this;
}

TimelineBuilder& TimelineBuilder::steps(uint64_t number) {
  for (size_t r = 0; r < processes_.size(); ++r) step(static_cast<int>(r), number);
  return *this;
}

void TimelineBuilder::end(int r, bool known, bool by_signal, int value) {
  now_ += kStep;
  rank(r).end = {EndKind::kEnded, now_, known, by_signal, value};
}

TimelineBuilder& TimelineBuilder::loses(int r, size_t records) {
  std::vector<Event>& history = rank(r).history;
  history.erase(history.begin(), history.begin() + static_cast<std::ptrdiff_t>(records));
  rank(r).history_lost += records;
  return *this;
}

TimelineBuilder& TimelineBuilder::killed(int r, int signal) {
  end(r, true, true, signal);
  return *this;
}
TimelineBuilder& TimelineBuilder::exits(int r, int code) {
  end(r, true, false, code);
  return *this;
}
TimelineBuilder& TimelineBuilder::vanishes(int r) {
  end(r, false, false, 0);
  return *this;
}
TimelineBuilder& TimelineBuilder::finalized(int r) {
  rank(r).stage = RF_STAGE_FINALIZED;
  return *this;
}
TimelineBuilder& TimelineBuilder::destroys(int r, const std::string& comm) {
  comm_of(r, comm).destroyed = true;
  return *this;
}

Timeline TimelineBuilder::build() const {
  Timeline t;
  t.begin = Instant(1ns);
  t.look = now_ + kStep;
  t.world_size = static_cast<int>(processes_.size());
  t.processes = processes_;
  t.job_over = std::all_of(processes_.begin(), processes_.end(),
                           [](const ProcessView& p) { return p.end.kind == EndKind::kEnded; });
  for (const ProcessView& p : processes_) t.expected.push_back({p.rank, 0, true});
  return t;
}

}  // namespace rankfault::testing
