#include "harness/diagnose/waits/streams.h"

#include <algorithm>
#include <map>

#include "harness/diagnose/messages/messages.h"

namespace rankfault {
namespace {

// One rank waits for another: the communicator and the waiter's call.
struct Awaited {
  const CommGroup* group;
  const Call* call;
};

bool pending(const Call& c) { return c.status == Call::Status::kPending; }
// A recorder may not record the root: then all members count as needed.
bool needs_root_only(const Call& c, const Member& m) {
  return op_need(c.op()) == RF_NEED_ROOT_UNLESS_ROOT && c.peer() >= 0 && c.peer() != m.rank;
}
bool needs_nobody(const Call& c, const Member& m) {
  const rf_need need = op_need(c.op());
  if (need == RF_NEED_ROOT_UNLESS_ROOT) return c.peer() == m.rank;
  if (need == RF_NEED_EVERYONE_IF_ROOT || need == RF_NEED_OWED_IF_ROOT)
    return c.peer() >= 0 && c.peer() != m.rank;
  return need == RF_NEED_NOBODY;
}

class Finder {
 public:
  explicit Finder(const JobView& job) : job_(job) {
    for (const ExpectedRank& e : job.timeline().expected)
      if (e.unread) unread_.insert(e.rank);
    for (const CommGroup& g : job.comms()) look_at(g);
    for (const auto& p : job.processes())
      if (p->has_streams()) look_at_messages(*p);
  }

  RanksBehind result() const {
    using Why = RanksBehind::Why;
    RanksBehind found;
    const auto take = [&](Why why, const auto& of, bool excused_too) {
      if (!found.ranks.empty()) return;
      for (const auto& [rank, awaited] : of)
        if (excused_too || !is_excused(rank)) add(found, rank, awaited);
      if (!found.ranks.empty()) found.why = why;
    };
    take(Why::kNotEnqueued, missing_, false);
    take(Why::kNotStarted, not_started_, false);
    take(Why::kNotCompleted, not_completed_, true);
    take(Why::kNoRecord, unseen_, true);
    if (!unread_is_awaited_) take(Why::kCircle, first_missed(), true);
    for (const auto& [rank, awaited] : not_completed_)
      if (found.ranks.count(rank)) found.device_stuck.insert(rank);
    if (!found.device_stuck.empty()) note_who_completed(found);
    return found;
  }

 private:
  void note_who_completed(RanksBehind& found) const {
    const Awaited& work = not_completed_.at(*found.device_stuck.begin());
    for (const Member& m : work.group->members)
      if (m.comm && m.comm->completed >= work.call->seq) found.completed_it.insert(m.world_rank);
  }

  // A collective takes precedence over a message; else the earlier call.
  static std::pair<bool, Instant> order(const Call& c) { return {is_message(c.op()), c.entered}; }
  static void add(RanksBehind& found, int rank, const Awaited& awaited) {
    found.ranks.insert(rank);
    if (found.call && order(*found.call) <= order(*awaited.call)) return;
    found.group = awaited.group;
    found.call = awaited.call;
  }
  static void keep_first(std::map<int, Awaited>& of, int rank, const Awaited& a) {
    const auto [at, is_new] = of.try_emplace(rank, a);
    if (!is_new && order(*a.call) < order(*at->second.call)) at->second = a;
  }

  // Returns the awaited ranks whose work was missed first.
  std::map<int, Awaited> first_missed() const {
    std::map<int, Awaited> first = missing_;
    Instant at = kEndOfTime;
    for (const auto& [rank, awaited] : missing_) at = std::min(at, awaited.call->entered);
    std::erase_if(first, [&](const auto& one) { return one.second.call->entered != at; });
    return first;
  }

  // Whether the rank waits for others itself. If others have completed its oldest work, it waits for its own
  // device instead.
  bool is_excused(int rank) const {
    const auto oldest = oldest_.find(rank);
    const bool stuck_itself = oldest != oldest_.end() && oldest->second.second;
    return excused_.count(rank) && !stuck_itself;
  }
  void note_pending(const Member& m, const Call& c, bool done_elsewhere) {
    const auto [at, is_new] = oldest_.try_emplace(m.world_rank, c.entered, done_elsewhere);
    if (!is_new && c.entered < at->second.first) at->second = {c.entered, done_elsewhere};
  }

  // Finds pending work and the ranks that have not enqueued it. It uses the counters and does not compare
  // member by member.
  void look_at(const CommGroup& g) {
    std::map<uint64_t, std::pair<const Member*, const Call*>> awaited;  // by seq: one that needs all members
    uint64_t least_entered = ~uint64_t{0}, most_completed = 0;
    bool unseen = false;
    for (const Member& m : g.members) {
      unseen = unseen || !m.comm;
      if (!m.comm || !m.process->has_streams()) continue;
      least_entered = std::min(least_entered, m.comm->entered);
      most_completed = std::max(most_completed, m.comm->completed);
      for (const Call* c : m.calls)
        if (pending(*c) && !needs_nobody(*c, m) && !needs_root_only(*c, m)) {
          const auto [at, is_new] = awaited.try_emplace(c->seq, &m, c);
          if (!is_new && c->entered < at->second.second->entered) at->second = {&m, c};
        }
    }
    for (const Member& m : g.members)
      if (m.comm && m.process->has_streams()) look_at(g, m, awaited, least_entered, most_completed, unseen);
    if (unseen && !awaited.empty()) blame_unseen(g, awaited);
    look_at_starts(g, awaited, least_entered);
  }

  template <typename ByseqT>
  void look_at(const CommGroup& g, const Member& m, const ByseqT& awaited, uint64_t least_entered,
               uint64_t most_completed, bool unseen) {
    const auto first = awaited.upper_bound(m.comm->entered);
    if (first != awaited.end()) keep_first(missing_, m.world_rank, {&g, first->second.second});
    for (const Call* c : m.calls) {
      if (!pending(*c) || needs_nobody(*c, m)) continue;
      const bool all_came = c->seq <= least_entered, done_elsewhere = c->seq <= most_completed;
      note_pending(m, *c, all_came && done_elsewhere && !needs_root_only(*c, m));
      if (needs_root_only(*c, m))
        look_at_root(g, m, *c);
      else if (all_came && done_elsewhere)
        keep_first(not_completed_, m.world_rank, {&g, c});
      else if (!all_came || unseen)
        excused_.insert(m.world_rank);
    }
  }

  void look_at_root(const CommGroup& g, const Member& m, const Call& c) {
    if (c.peer() < 0 || static_cast<size_t>(c.peer()) >= g.members.size()) return;
    const Member& root = g.members[static_cast<size_t>(c.peer())];
    if (root.comm && root.comm->entered >= c.seq) return;
    excused_.insert(m.world_rank);
    if (root.comm) keep_first(missing_, root.world_rank, {&g, &c});
  }

  template <typename ByseqT>
  void blame_unseen(const CommGroup& g, const ByseqT& awaited) {
    if (some_unread(g)) {
      unread_is_awaited_ = true;
      return;
    }
    for (const Member& m : g.members)
      if (!m.comm && m.world_rank >= 0)
        keep_first(unseen_, m.world_rank, {&g, awaited.begin()->second.second});
  }

  // Whether the record of a member cannot be read. That member may have come or not, so the absence of others
  // shows nothing.
  bool some_unread(const CommGroup& g) const {
    return std::any_of(g.members.begin(), g.members.end(),
                       [&](const Member& m) { return !m.comm && unread_.count(m.world_rank) != 0; });
  }

  // Finds work that all have enqueued and that runs on some ranks only.
  template <typename ByseqT>
  void look_at_starts(const CommGroup& g, const ByseqT& awaited, uint64_t least_entered) {
    for (const auto& [seq, waiter] : awaited) {
      if (seq > least_entered) return;
      const auto runs = [&, s = seq](const Member& m) { return m.comm && m.comm->started >= s; };
      if (std::none_of(g.members.begin(), g.members.end(), runs)) continue;
      for (const Member& m : g.members)
        if (m.comm && !runs(m)) keep_first(not_started_, m.world_rank, {&g, waiter.second});
    }
  }

  // Messages between two ranks: by count if the two are the whole communicator, else pending ones by pair.
  void look_at_messages(const Process& p) {
    for (const Call& c : p.calls) {
      if (!is_message(c.op()) || !pending(c)) continue;
      const CommGroup* g = job_.group(p, c.comm());
      const Member* me = g ? g->of(p, c.comm()) : nullptr;
      if (!me || c.peer() < 0 || static_cast<size_t>(c.peer()) >= g->members.size()) continue;
      const Member& partner = g->members[static_cast<size_t>(c.peer())];
      note_pending(*me, c, false);
      if (!partner.comm) {
        excused_.insert(me->world_rank);
        if (unread_.count(partner.world_rank) != 0)
          unread_is_awaited_ = true;
        else if (partner.world_rank >= 0)
          keep_first(unseen_, partner.world_rank, {g, &c});
      } else if (!came(*g, *me, partner, c)) {
        excused_.insert(me->world_rank);
        keep_first(missing_, partner.world_rank, {g, &c});
      }
    }
  }

  static bool came(const CommGroup& g, const Member& me, const Member& partner, const Call& c) {
    const bool sends = c.op() == RF_OP_SEND;
    if (g.size == 2) return std::max(partner.comm->sends, partner.comm->receives) >= c.seq;
    const auto of_pair = [&](const Member& m, int peer, uint16_t op, uint64_t before) {
      return std::count_if(m.process->calls.begin(), m.process->calls.end(), [&](const Call& other) {
        return other.comm() == m.comm->index && other.op() == op && other.peer() == peer && pending(other) &&
               other.seq < before;
      });
    };
    const uint16_t theirs = sends ? RF_OP_RECV : RF_OP_SEND;
    return of_pair(partner, me.rank, theirs, ~uint64_t{0}) > of_pair(me, partner.rank, c.op(), c.seq);
  }

  const JobView& job_;
  bool unread_is_awaited_ = false;  // then all the others may wait for it
  std::set<int> unread_;            // world ranks
  std::map<int, Awaited> missing_, not_started_, not_completed_, unseen_;  // by world rank
  std::set<int> excused_;                                                  // they wait for others themselves
  std::map<int, std::pair<Instant, bool>> oldest_;  // pending work: its time; others have completed it
};

}  // namespace

RanksBehind ranks_behind(const JobView& job) { return Finder(job).result(); }

}  // namespace rankfault
