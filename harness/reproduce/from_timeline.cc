#include "harness/reproduce/from_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "harness/diagnose/model/view.h"
#include "harness/diagnose/model/words.h"
#include "harness/reproduce/same_state.h"

namespace rankfault {
namespace {

bool is_replayed(const Call& call) {
  if (!call.traits().communicates || call.flags() & RF_CALL_EXECUTION) return false;
  return is_collective(call.op()) || rf_is_wait(call.op()) ||
         (is_message(call.op()) && call.op() != RF_OP_PROBE);
}

class Reader {
 public:
  Reader(const JobView& job, size_t most_calls, Case& into) : job_(job), most_(most_calls), case_(into) {}

  void read_groups() {
    for (const CommGroup& group : job_.comms()) {
      place_of_[&group] = static_cast<int>(case_.groups.size());
      case_.groups.push_back({group.name, members_of(group)});
    }
  }

  // Looks for a divergence that is further back than the calls that each rank keeps: then all ranks keep
  // those around it.
  void find_span() {
    for (const auto& process : job_.processes()) {
      const std::vector<const Call*> calls = calls_of(*process);
      const auto at = std::find_if(calls.begin(), calls.end(),
                                   [&](const Call* call) { return diverges(*process, *call); });
      if (at == calls.end() || static_cast<size_t>(calls.end() - at) <= most_) continue;
      const size_t before = std::min(most_, static_cast<size_t>(at - calls.begin()));
      const Instant begin = at[-static_cast<ptrdiff_t>(before)]->entered,
                    end = at[static_cast<ptrdiff_t>(most_ / 4)]->entered;
      span_ = span_ ? Span{std::min(span_->begin, begin), std::max(span_->end, end)} : Span{begin, end};
    }
  }

  CaseRank read(const Process& process) {
    CaseRank rank{.rank = process.rank()};
    std::vector<const Call*> calls = calls_of(process);
    const bool waits =
        std::any_of(calls.begin(), calls.end(), [](const Call* call) { return !call->succeeded(); });
    if (span_)
      std::erase_if(calls, [&](const Call* call) {
        return call->entered < span_->begin || call->entered > span_->end;
      });
    else if (calls.size() > most_)
      calls.erase(calls.begin(), calls.end() - static_cast<ptrdiff_t>(most_));
    for (const Call* call : calls) add(rank, process, *call);
    settle_state(rank, process, waits);
    return rank;
  }

 private:
  struct Span {
    Instant begin, end;
  };

  // In the order in which its threads made them.
  static std::vector<const Call*> calls_of(const Process& process) {
    std::vector<const Call*> calls;
    for (const Call& call : process.calls)
      if (is_replayed(call)) calls.push_back(&call);
    std::stable_sort(calls.begin(), calls.end(), [](auto* a, auto* b) { return a->entered < b->entered; });
    return calls;
  }

  // Whether the call is the first at or behind the place that the finding names.
  bool diverges(const Process& process, const Call& call) const {
    if (case_.state.seq == 0 || is_message(call.op()) || call.seq < case_.state.seq) return false;
    const CommGroup* group = job_.group(process, call.comm());
    return group && group->name == case_.state.group;
  }

  static std::vector<int> members_of(const CommGroup& group) {
    for (const Member& m : group.members)
      if (m.comm && !m.comm->members.empty()) return m.comm->members;
    std::vector<int> members;
    for (uint32_t i = 0; i < group.size; ++i)
      members.push_back(group.flags & RF_COMM_WORLD ? static_cast<int>(i) : -1);
    for (const Member& m : group.members)
      if (m.rank >= 0 && m.rank < static_cast<int>(members.size()) && m.world_rank >= 0)
        members[static_cast<size_t>(m.rank)] = m.world_rank;
    return members;
  }

  int world_rank(int group, int rank_in_group) const {
    if (group < 0 || rank_in_group < 0) return -1;
    const std::vector<int>& members = case_.groups[static_cast<size_t>(group)].members;
    return static_cast<size_t>(rank_in_group) < members.size() ? members[static_cast<size_t>(rank_in_group)]
                                                               : -1;
  }

  CaseCall call_of(const Process& process, const Call& call) const {
    CaseCall made;
    const CommGroup* group = job_.group(process, call.comm());
    const auto at = place_of_.find(group);
    made.group = at == place_of_.end() ? -1 : at->second;
    made.op = op_text(call.op());
    made.seq = is_message(call.op()) ? 0 : call.seq;
    made.open = !call.succeeded();
    made.pending = call.flags() & RF_CALL_NONBLOCKING;
    made.where = call_site_of(process, call);
    if (rf_is_wait(call.op())) return made;
    if (call.op() != RF_OP_BARRIER) {
      if (call.dtype() != 0) made.dtype = dtype_text(call.dtype());
      if (call.reduce_op() != 0) made.reduce_op = reduce_op_text(call.reduce_op());
      if (!(call.flags() & RF_CALL_COUNT_UNKNOWN)) made.count = static_cast<int64_t>(call.count());
    }
    made.peer = world_rank(made.group, call.peer());
    if (is_message(call.op())) made.tag = call.tag();
    return made;
  }

  void add(CaseRank& rank, const Process& process, const Call& call) {
    CaseCall made = call_of(process, call);
    if (call.op() != RF_OP_SENDRECV) {
      rank.calls.push_back(std::move(made));
      return;
    }
    // One call that does both: its two halves are pending, and then it waits.
    CaseCall half = made;
    half.pending = true;
    half.op = "send";
    rank.calls.push_back(half);
    half.op = "recv";
    half.peer = world_rank(made.group, call.recv_peer());
    half.tag = call.recv_tag() == kTagUnknown ? made.tag : call.recv_tag();
    rank.calls.push_back(half);
    rank.calls.push_back({.group = made.group, .op = "wait", .open = made.open, .where = made.where});
  }

  static void settle_state(CaseRank& rank, const Process& process, bool waits) {
    const ProcessEnd& end = process.view->end;
    rank.state = waits ? RankState::kWaits : RankState::kElsewhere;
    if (!process.ended()) return;
    rank.state = RankState::kEnded;
    if (end.status_known) (end.by_signal ? rank.signal : rank.code) = end.value;
  }

  const JobView& job_;
  size_t most_;
  Case& case_;
  std::map<const CommGroup*, int> place_of_;
  std::optional<Span> span_;
};

// Whether the process was ended by the same signal as another one, and at the same time: as a node's
// processes are.
bool ended_together(const ProcessEnd& a, const ProcessEnd& b) {
  constexpr Duration kAtOnce = 100ms;
  return a.kind == EndKind::kEnded && b.kind == EndKind::kEnded && a.by_signal && b.by_signal &&
         a.value == b.value && std::max(a.time, b.time) - std::min(a.time, b.time) <= kAtOnce;
}

// A node that is lost is one cause: all ranks that it took with it are blamed.
void blame_all_ended_together(const JobView& job, HangState& state) {
  if (state.kind != "dead_rank" || state.culprits.empty()) return;
  const Process* first = job.rank(state.culprits.front());
  if (!first) return;
  for (const auto& process : job.processes())
    if (process->rank() >= 0 && ended_together(process->view->end, first->view->end))
      state.culprits.push_back(process->rank());
  state.culprits = sorted_unique(std::move(state.culprits));
}

std::string library_of(const JobView& job) {
  std::map<std::string, size_t> made;
  for (const auto& process : job.processes())
    for (const CallShape& shape : process->shapes)
      if (traits_of(shape.library).communicates && !(shape.flags & RF_CALL_EXECUTION))
        ++made[traits_of(shape.library).name];
  std::string most;
  for (const auto& [name, count] : made)
    if (most.empty() || count > made[most]) most = name;
  return most;
}

}  // namespace

HangState state_of(const std::vector<Finding>& findings) {
  const Finding& f = findings.at(0);
  HangState state{.kind = f.kind, .op = f.op, .group = f.comm, .field = f.field};
  state.proven = f.confidence == Confidence::kProven;
  state.text = f.text;
  if (f.seq) state.seq = f.seq->to;
  const std::vector<std::string> kinds = equal_kinds(f.kind);
  for (const Finding& other : findings)
    if (other.caused_by < 0 && std::find(kinds.begin(), kinds.end(), other.kind) != kinds.end())
      state.culprits.insert(state.culprits.end(), other.ranks.begin(), other.ranks.end());
  state.culprits = sorted_unique(std::move(state.culprits));
  for (const Side& side : f.sides) {
    state.sides.push_back(side.ranks);
    if (side.op.empty()) continue;
    for (const int r : side.ranks)
      if (!std::binary_search(state.culprits.begin(), state.culprits.end(), r)) state.waiters.push_back(r);
  }
  state.waiters = sorted_unique(std::move(state.waiters));
  return state;
}

Case case_from_timeline(const Timeline& timeline, const std::vector<Finding>& causes, size_t most_calls) {
  const JobView job(timeline);
  Case c;
  c.world_size = timeline.world_size;
  c.library = library_of(job);
  c.state = state_of(causes);
  blame_all_ended_together(job, c.state);
  Reader reader(job, most_calls, c);
  reader.read_groups();
  reader.find_span();
  std::set<int> seen;
  for (const auto& process : job.processes())
    if (process->rank() >= 0 && !process->helper() && seen.insert(process->rank()).second)
      c.ranks.push_back(reader.read(*process));
  for (const ExpectedRank& e : timeline.expected)
    if (e.attempt == timeline.attempt && seen.insert(e.rank).second)
      c.ranks.push_back({.rank = e.rank, .state = e.started ? RankState::kUnknown : RankState::kNotStarted});
  std::sort(c.ranks.begin(), c.ranks.end(),
            [](const CaseRank& a, const CaseRank& b) { return a.rank < b.rank; });
  for (const CommGroup& group : job.comms())
    for (const Member& m : group.members)
      if (m.comm && m.comm->timeout > Duration::zero() && group.name == c.state.group)
        c.limit_ms = std::chrono::duration_cast<std::chrono::milliseconds>(m.comm->timeout).count();
  return c;
}

}  // namespace rankfault
