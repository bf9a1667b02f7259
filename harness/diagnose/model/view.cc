#include "harness/diagnose/model/view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>

#include "harness/base/parallel.h"
#include "harness/diagnose/model/calls.h"
#include "harness/diagnose/sequence/places.h"

namespace rankfault {
namespace {

constexpr uint32_t kMostMembers = 1u << 20;  // a larger size comes from a broken record

bool seq_before(const Call* c, uint64_t seq) { return c->seq < seq; }

std::string name_of(const CommGroup& group) {
  std::vector<int> ranks;
  for (const Member& m : group.members)
    if (m.world_rank >= 0) ranks.push_back(m.world_rank);
  const std::vector<int> all = ranks;
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  if (ranks.size() == 1 && all.size() > 1) return fmt::format("size {} in rank {}", group.size, ranks[0]);
  if (ranks.empty())
    return group.flags & RF_COMM_INTER ? "an intercommunicator" : fmt::format("size {}", group.size);
  return fmt::format("size {} of ranks {}", group.size,
                     fmt::join(ranks.size() < all.size() ? ranks : all, " "));
}

// A persistent collective is identified by the call that prepared it.
std::string persistent_request(const CommGroup& group) {
  const auto known =
      std::find_if(group.members.begin(), group.members.end(), [](const Member& m) { return m.comm; });
  return known == group.members.end() ? "" : fmt::format(", request of call {}", known->comm->parent_seq);
}

// Adds the view of one process to the communicator.
void take_view(CommGroup& group, const Process& process, const CommView& comm) {
  group.flags |= comm.flags;
  group.library = comm.library;
  if (group.name.empty()) group.name = comm.name;
  if (comm.flags & RF_COMM_INTER) return;  // two groups with one id, each with its own ranks
  if (comm.size > group.members.size() && comm.size <= kMostMembers) {
    group.size = comm.size;
    group.members.resize(comm.size);
    for (uint32_t r = 0; r < comm.size; ++r) group.members[r].rank = static_cast<int>(r);
  }
  for (size_t r = 0; r < comm.members.size() && r < group.members.size(); ++r)
    group.members[r].world_rank = comm.members[r];
  if (comm.rank < 0 || static_cast<size_t>(comm.rank) >= group.members.size()) return;
  Member& me = group.members[static_cast<size_t>(comm.rank)];
  if (me.process && !me.process->ended()) return;  // two processes claim it: duplicate_rank reports that
  me.process = &process;
  me.comm = &comm;
  if (me.world_rank < 0) me.world_rank = process.rank();
}

void collect_calls(Member& member) {
  if (!member.process) return;
  member.calls.clear();
  const auto placed = [&](const Call& c) {
    return c.comm() == member.comm->index && c.seq != 0 && is_positional(c.op()) &&
           !(c.flags() & RF_CALL_EXECUTION);
  };
  const std::vector<Call>& all = member.process->calls;
  member.calls.reserve(static_cast<size_t>(std::count_if(all.begin(), all.end(), placed)));
  for (const Call& c : all)
    if (placed(c)) member.calls.push_back(&c);
  const auto before = [](const Call* a, const Call* b) { return a->seq < b->seq; };
  if (!std::is_sorted(member.calls.begin(), member.calls.end(), before))
    std::stable_sort(member.calls.begin(), member.calls.end(), before);
}

bool has_unfinished(const Member& m) {
  return std::any_of(m.calls.begin(), m.calls.end(), [](const Call* c) { return !c->succeeded(); });
}

// Completes members that no list contains: in a communicator of all ranks, rank r is world rank r.
void complete(CommGroup& group, const JobView& job) {
  const bool all_ranks = static_cast<int>(group.size) == job.timeline().world_size;
  bool same = all_ranks;
  for (const Member& m : group.members) same = same && (m.world_rank < 0 || m.world_rank == m.rank);
  for (Member& m : group.members) {
    if (m.world_rank < 0 && same) m.world_rank = m.rank;
    if (!m.process && m.world_rank >= 0) m.process = job.rank(m.world_rank);
    if (m.comm) m.world_rank = m.process->rank();  // its own rank overrides others' lists
    if (m.comm) collect_calls(m);
  }
  if (group.flags & RF_COMM_WORLD) group.name = "world";
  if (group.name.empty()) group.name = name_of(group);
  if (group.flags & RF_COMM_STREAM) group.name += persistent_request(group);
}

}  // namespace

uint64_t Call::bytes() const { return count() * (dtype() == RF_DTYPE_OTHER ? 1 : dtype_bytes(dtype())); }

bool is_positional(uint16_t op) {
  switch (op) {
    case RF_OP_FINALIZE:
    case RF_OP_COMM_CREATE:
    case RF_OP_COMM_FREE:
    case RF_OP_COMM_SHRINK:
    case RF_OP_COMM_AGREE:
    case RF_OP_PERSISTENT_INIT:
      return true;
    default:
      return is_collective(op);
  }
}

std::optional<uint32_t> only_issuer(const CommView& comm) {
  if (std::popcount(comm.issuers) != 1 || comm.flags & RF_COMM_ISSUER_OVERFLOW) return std::nullopt;
  return static_cast<uint32_t>(std::countr_zero(comm.issuers));
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
  if (c.open() && !(c.flags() & RF_CALL_NONBLOCKING)) return &c;
  const uint64_t origin = RF_ORIGIN(c.lane, c.number);
  for (const auto& [lane, origins] : waits_for)
    if (std::find(origins.begin(), origins.end(), origin) != origins.end()) return inside(lane);
  return nullptr;
}

const Call* Member::at(uint64_t seq) const {
  const auto found = std::lower_bound(calls.begin(), calls.end(), seq, seq_before);
  return found != calls.end() && (*found)->seq == seq ? *found : nullptr;
}

uint64_t Member::last_entered() const {
  const int64_t last = comm ? static_cast<int64_t>(comm->entered) + shift : 0;
  return static_cast<uint64_t>(std::max<int64_t>(0, last));
}

// If positions have no gaps the counter alone decides; for tags the records decide, while none are lost.
Known Member::entered(uint64_t seq) const {
  if (!comm) return Known::kUnknown;
  if (seq > last_entered()) {
    const bool may = seq <= last_entered() + static_cast<uint64_t>(may_be_higher) && seq >= unsure_from;
    return may ? Known::kUnknown : Known::kNo;
  }
  if (may_be_lower != 0 && seq + static_cast<uint64_t>(may_be_lower) > last_entered()) return Known::kUnknown;
  const Call* own = at(seq);
  if (own && own->op() == RF_OP_FINALIZE)
    return Known::kNo;  // it ended there, which is not its part of a call
  if (own || (comm->flags & RF_COMM_POSITIONAL)) return Known::kYes;
  return process->view->history_lost == 0 ? Known::kNo : Known::kUnknown;
}

uint64_t Member::least_place(const Call& c) const {
  if (may_be_lower == 0 || c.seq < unsure_from) return c.seq;
  return std::max<uint64_t>(unsure_from, c.seq - std::min(c.seq, static_cast<uint64_t>(may_be_lower)));
}

const Member* CommGroup::of(const Process& process) const {
  for (const auto& [group, member] : process.seats)
    if (group == this) return member;
  return nullptr;
}

const Member* CommGroup::of(const Process& process, uint32_t comm_index) const {
  for (const auto& [group, member] : process.seats)
    if (group == this && member->comm->index == comm_index) return member;
  return nullptr;
}

namespace {

// Each lane loses its oldest records independently: the remaining calls may have gaps.
uint64_t after_last_hole(const Member& m) {
  if (m.calls.empty()) return m.last_entered() + 1;
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

namespace {

// Helpers communicate among themselves and may wait there for any time.
bool is_of_the_job(const ProcessView& p, const std::set<uint64_t>& shared) {
  return !p.helper || std::any_of(p.comms.begin(), p.comms.end(),
                                  [&](const CommView& c) { return c.id != 0 && shared.count(c.id); });
}

std::set<uint64_t> communicators_of_ranks(const Timeline& timeline) {
  std::set<uint64_t> ids;
  if (std::none_of(timeline.processes.begin(), timeline.processes.end(),
                   [](const ProcessView& p) { return p.helper; }))
    return ids;  // the result is not used
  for (const ProcessView& p : timeline.processes)
    for (const CommView& c : p.comms)
      if (!p.helper && p.attempt == timeline.attempt) ids.insert(c.id);
  return ids;
}

}  // namespace

JobView::JobView(const Timeline& timeline) : timeline_(timeline) {
  take_processes();
  in_parallel(processes_.size(), [&](size_t i) {  // most of the time is spent reading its history
    processes_[i]->stable = build_calls(*processes_[i]) && processes_[i]->stable;
  });
  find_ranks();
  join_comms();
}

void JobView::take_processes() {
  bool blamed_unstable = timeline_.consistent;
  for (const ProcessView& p : timeline_.processes) blamed_unstable = blamed_unstable || !p.stable;
  const std::set<uint64_t> shared = communicators_of_ranks(timeline_);
  for (const ProcessView& p : timeline_.processes) {
    if (p.attempt != timeline_.attempt || !is_of_the_job(p, shared)) continue;
    auto process = std::make_unique<Process>();
    process->view = &p;
    process->stable = p.stable && blamed_unstable;
    processes_.push_back(std::move(process));
  }
}

// Like Timeline::rank, for all ranks at once.
void JobView::find_ranks() {
  for (const auto& p : processes_) {
    if (p->helper()) continue;
    const Process*& best = by_rank_[p->rank()];
    if (!best || (p->member() && !best->member()) ||
        (p->member() == best->member() && p->view->opened >= best->view->opened))
      best = p.get();
  }
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
  std::unordered_map<const Process*, Process*> own;
  for (const auto& p : processes_) own[p.get()] = p.get();
  for (auto& [id, group] : by_id) {
    complete(group, *this);
    settle_places(group, [&](const Process& p) -> Process& { return *own.at(&p); });
    for (const Member& m : group.members)
      if (m.comm && has_unfinished(m)) group.unfinished.push_back(&m);
    comms_.push_back(std::move(group));
  }
  // In the order in which the members made them, so that nothing depends on the values of ids.
  for (CommGroup& g : comms_)
    for (const Member& m : g.members)
      if (m.comm) g.ordinal = std::min(g.ordinal, m.comm->ordinal);
  std::stable_sort(comms_.begin(), comms_.end(), [](const CommGroup& a, const CommGroup& b) {
    return std::tie(a.ordinal, a.library, a.name) < std::tie(b.ordinal, b.library, b.name);
  });
  for (const CommGroup& g : comms_) {
    by_id_[g.id] = &g;
    for (const Member& m : g.members)
      if (m.comm) own[m.process]->seats.emplace_back(&g, &m);
  }
}

const Process* JobView::rank(int world_rank) const {
  const auto at = by_rank_.find(world_rank);
  return at == by_rank_.end() ? nullptr : at->second;
}

const CommGroup* JobView::group(const Process& process, uint32_t comm_index) const {
  const CommView* comm = process.view->comm(comm_index);
  if (!comm) return nullptr;
  const auto at = by_id_.find(comm->id);
  return at == by_id_.end() ? nullptr : at->second;
}

}  // namespace rankfault
