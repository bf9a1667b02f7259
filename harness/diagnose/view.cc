// view: see view.h.
#include "harness/diagnose/view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "harness/diagnose/calls.h"

namespace rankfault {
namespace {

constexpr uint32_t kMostMembers = 1u << 20;  // a size beyond it was read from a broken record

bool seq_before(const Call* c, uint64_t seq) { return c->seq < seq; }

std::string name_of(const CommGroup& group) {
  std::vector<int> ranks;
  for (const Member& m : group.members)
    if (m.world_rank >= 0) ranks.push_back(m.world_rank);
  return fmt::format("size {} of ranks {}", group.size, fmt::join(ranks, " "));
}

// What one process knows of the communicator.
void take_view(CommGroup& group, const Process& process, const CommView& comm) {
  group.flags |= comm.flags;
  group.library = comm.library;
  if (group.name.empty()) group.name = comm.name;
  if (comm.flags & RF_COMM_INTER) return;  // two groups under one id, each with ranks of its own
  if (comm.size > group.members.size() && comm.size <= kMostMembers) {
    group.size = comm.size;
    group.members.resize(comm.size);
    for (uint32_t r = 0; r < comm.size; ++r) group.members[r].rank = static_cast<int>(r);
  }
  for (size_t r = 0; r < comm.members.size() && r < group.members.size(); ++r)
    group.members[r].world_rank = comm.members[r];
  if (comm.rank < 0 || static_cast<size_t>(comm.rank) >= group.members.size()) return;
  Member& me = group.members[static_cast<size_t>(comm.rank)];
  if (me.process && !me.process->ended()) return;  // claimed twice: duplicate_rank says so
  me.process = &process;
  me.comm = &comm;
  if (me.world_rank < 0) me.world_rank = process.rank();
}

void collect_calls(Member& member) {
  if (!member.process) return;
  member.calls.clear();
  for (const Call& c : member.process->calls)
    if (c.comm == member.comm->index && c.seq != 0 && is_positional(c.op) && !(c.flags & RF_CALL_EXECUTION))
      member.calls.push_back(&c);
  std::stable_sort(member.calls.begin(), member.calls.end(),
                   [](const Call* a, const Call* b) { return a->seq < b->seq; });
}

// Members that nobody listed: in a communicator of all ranks, rank r is world rank r.
void complete(CommGroup& group, const JobView& job) {
  const bool all_ranks = static_cast<int>(group.size) == job.timeline().world_size;
  bool same = all_ranks;
  for (const Member& m : group.members) same = same && (m.world_rank < 0 || m.world_rank == m.rank);
  for (Member& m : group.members) {
    if (m.world_rank < 0 && same) m.world_rank = m.rank;
    if (!m.process && m.world_rank >= 0) m.process = job.rank(m.world_rank);
    if (m.comm) collect_calls(m);
  }
  if (group.flags & RF_COMM_WORLD) group.name = "world";
  if (group.name.empty()) group.name = name_of(group);
}

}  // namespace

bool is_positional(uint16_t op) {
  switch (op) {
    case RF_OP_FINALIZE:
    case RF_OP_COMM_CREATE:
    case RF_OP_COMM_FREE:
    case RF_OP_COMM_SHRINK:
    case RF_OP_COMM_AGREE:
      return true;
    default:
      return is_collective(op);
  }
}

const Call* Process::find(uint32_t lane, uint32_t number) const {
  const auto at = std::lower_bound(calls.begin(), calls.end(), std::pair(lane, number),
                                   [](const Call& c, const std::pair<uint32_t, uint32_t>& key) {
                                     return std::tie(c.lane, c.number) < std::tie(key.first, key.second);
                                   });
  return at != calls.end() && at->lane == lane && at->number == number ? &*at : nullptr;
}

const Call* Process::inside(uint32_t lane) const {
  for (const LaneView& l : view->lanes)
    if (l.index == lane && l.state.where == RF_INSIDE) {
      const Call* c = find(lane, l.state.call);
      return c && c->open() ? c : nullptr;
    }
  return nullptr;
}

std::vector<const Call*> Process::all_inside() const {
  std::vector<const Call*> open;
  for (const LaneView& l : view->lanes)
    if (const Call* c = inside(l.index)) open.push_back(c);
  return open;
}

bool Process::has_streams() const {
  return !view->lanes.empty() && view->lanes.front().kind == RF_LANE_STREAM;
}

const Call* Process::held_by(const Call& c) const {
  if (c.open() && !(c.flags & RF_CALL_NONBLOCKING)) return &c;
  const uint64_t origin = RF_ORIGIN(c.lane, c.number);
  for (const auto& [lane, origins] : waits_for)
    if (std::find(origins.begin(), origins.end(), origin) != origins.end()) return inside(lane);
  return nullptr;
}

const Call* Member::at(uint64_t seq) const {
  const auto found = std::lower_bound(calls.begin(), calls.end(), seq, seq_before);
  return found != calls.end() && (*found)->seq == seq ? *found : nullptr;
}

// Positions without gaps are told by the counter alone; tags by the records, while none are lost.
Known Member::entered(uint64_t seq) const {
  if (!comm) return Known::kUnknown;
  if (seq > comm->entered) return Known::kNo;
  const Call* own = at(seq);
  if (own && own->op == RF_OP_FINALIZE) return Known::kNo;  // it ended there; that is not its part of a call
  if (own || (comm->flags & RF_COMM_POSITIONAL)) return Known::kYes;
  return process->view->history_lost == 0 ? Known::kNo : Known::kUnknown;
}

const Member* CommGroup::of(const Process& process) const {
  for (const Member& m : members)
    if (m.process == &process && m.comm) return &m;
  return nullptr;
}

namespace {

// Lanes lose their oldest records each at its own pace: the calls left may have holes.
uint64_t after_last_hole(const Member& m) {
  if (m.calls.empty()) return m.comm->entered + 1;
  size_t i = m.calls.size() - 1;
  while (i > 0 && m.calls[i - 1]->seq + 1 >= m.calls[i]->seq) --i;
  return m.calls[i]->seq;
}

}  // namespace

uint64_t CommGroup::first_seq() const {
  uint64_t first = 1;
  for (const Member& m : members)
    if (m.comm && m.process->view->history_lost != 0) first = std::max(first, after_last_hole(m));
  return first;
}

JobView::JobView(const Timeline& timeline) : timeline_(timeline) {
  bool blamed_unstable = timeline.consistent;
  for (const ProcessView& p : timeline.processes) blamed_unstable = blamed_unstable || !p.stable;
  for (const ProcessView& p : timeline.processes) {
    if (p.attempt != timeline.attempt) continue;
    auto process = std::make_unique<Process>();
    process->view = &p;
    build_calls(*process);
    process->stable = p.stable && blamed_unstable;
    processes_.push_back(std::move(process));
  }
  join_comms();
}

void JobView::join_comms() {
  std::map<uint64_t, CommGroup> by_id;
  for (const auto& process : processes_)
    for (const CommView& comm : process->view->comms) {
      if (comm.id == 0) continue;
      CommGroup& group = by_id[comm.id];
      group.id = comm.id;
      take_view(group, *process, comm);
    }
  for (auto& [id, group] : by_id) {
    complete(group, *this);
    comms_.push_back(std::move(group));
  }
  // In the order in which the members made them, so that nothing depends on the values of ids.
  std::stable_sort(comms_.begin(), comms_.end(), [](const CommGroup& a, const CommGroup& b) {
    const auto key = [](const CommGroup& g) {
      uint32_t ordinal = ~0u;
      for (const Member& m : g.members)
        if (m.comm) ordinal = std::min(ordinal, m.comm->ordinal);
      return std::tuple(ordinal, static_cast<int>(g.library), g.name);
    };
    return key(a) < key(b);
  });
}

const Process* JobView::rank(int world_rank) const {
  const ProcessView* view = timeline_.rank(timeline_.attempt, world_rank);
  for (const auto& p : processes_)
    if (p->view == view) return p.get();
  return nullptr;
}

const CommGroup* JobView::group(const Process& process, uint32_t comm_index) const {
  const CommView* comm = process.view->comm(comm_index);
  if (!comm) return nullptr;
  for (const CommGroup& g : comms_)
    if (g.id == comm->id) return &g;
  return nullptr;
}

}  // namespace rankfault
