#include "harness/reproduce/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/reproduce/recorded_programs.h"
#include "harness/reproduce/simulate.h"

namespace rankfault {
namespace {

constexpr size_t kMostAdded = 4096;

class Builder {
 public:
  explicit Builder(const Case& c) : case_(c) {}

  Result<Replay> build() {
    replay_.groups = case_.groups;
    recorded_ = recorded_programs(case_);
    replay_.healthy = recorded_;
    if (const Status made = diverge(); !made) return made.error();
    return std::move(replay_);
  }

 private:
  Status diverge() {
    const std::string& kind = case_.state.kind;
    if (kind == "wedged")
      return usage_error(
          "every member is in the call, and it does not complete: the cause is below the calls, so no "
          "program of calls can show it");
    if (kind == "host_resource" && !case_.state.resource.empty()) return segment_removed();
    if (kind == "duplicate_rank" || kind == "separate_worlds" || kind == "lost_node" ||
        kind == "version_mismatch" || kind == "host_resource")
      return usage_error(fmt::format("{} is not about calls, so no program of calls can show it", kind));
    if (kind == "init_stall") return never_started();
    if (kind == "call_mismatch" || kind == "extra_call" || kind == "order_deadlock" ||
        case_.state.culprits.empty())
      return other_lines();
    return absent();
  }

  // The last rank attaches to a segment of another one, whose name is gone.
  Status segment_removed() {
    const CaseCall first{.group = 0, .op = "all_reduce", .dtype = "float32", .reduce_op = "sum", .count = 1};
    CaseGroup world{.name = "world"};
    for (int r = 0; r < case_.world_size; ++r) world.members.push_back(r);
    replay_.groups = {world};
    replay_.healthy.assign(recorded_.size(), {first});
    replay_.diverging = replay_.healthy;
    replay_.divergences.push_back({.fault = "shm_unlink", .ranks = {case_.world_size - 1}});
    return Done{};
  }

  // The ranks that the evidence misses are never started.
  Status never_started() {
    ReplayDivergence d{.fault = "start", .ranks = case_.state.culprits};
    if (d.ranks.empty()) return usage_error("the evidence does not say which rank did not join");
    replay_.healthy.assign(recorded_.size(), {});
    replay_.diverging = replay_.healthy;
    replay_.divergences.push_back(d);
    return Done{};
  }

  // The call of another rank that `rank` did not make: the one that the evidence names, which a library may
  // even have completed with another call; else an open call that waits for the rank. Null: no such call is
  // on record.
  const CaseCall* awaited(int rank, int* other_rank) const {
    const CaseCall* any = nullptr;
    for (const CaseRank& other : case_.ranks) {
      if (other.rank == rank || is_culprit(other.rank)) continue;
      for (const CaseCall& call : recorded_[static_cast<size_t>(other.rank)]) {
        if (is_wait(call) || !needs(call, rank)) continue;
        const bool named = call.op == case_.state.op && is_of_named_group(call);
        const bool is_it = named && !is_message(call) && call.seq != 0 && call.seq == case_.state.seq;
        if (!is_it && !call.open) continue;
        if (named || !any) any = &call, *other_rank = other.rank;
        if (is_it || (named && case_.state.seq == 0)) return any;
      }
    }
    return any;
  }

  bool is_culprit(int rank) const {
    const std::vector<int>& all = case_.state.culprits;
    return std::find(all.begin(), all.end(), rank) != all.end();
  }

  bool needs(const CaseCall& call, int rank) const {
    const std::vector<int>& members = group_of(call).members;
    return is_message(call) ? call.peer == rank
                            : std::find(members.begin(), members.end(), rank) != members.end();
  }

  const CaseGroup& group_of(const CaseCall& call) const {
    return replay_.groups[static_cast<size_t>(call.group)];
  }

  bool is_of_named_group(const CaseCall& call) const {
    return case_.state.group.empty() || group_of(call).name == case_.state.group;
  }

  static CaseCall as_made_by(const CaseCall& call, int waiter) {
    CaseCall made = call;
    made.open = made.pending = false;
    made.where.clear();
    if (is_message(call)) {
      made.op = call.op == "recv" ? "send" : "recv";
      made.peer = waiter;
    }
    return made;
  }

  // Puts the call where the rank's own calls say that it belongs, and returns its place.
  static size_t insert(RankProgram& program, const CaseCall& call) {
    auto at = std::find_if(program.begin(), program.end(), [&](const CaseCall& other) {
      return !is_message(call) && other.group == call.group && call.seq != 0 && other.seq >= call.seq &&
             !is_message(other) && !is_wait(other);
    });
    if (at == program.end())
      at = std::find_if(program.begin(), program.end(), [](const CaseCall& other) { return other.open; });
    const auto inserted = program.insert(at, call);
    return static_cast<size_t>(inserted - program.begin());
  }

  Status absent() {
    for (const int culprit : case_.state.culprits) {
      int waiter = -1;
      const CaseCall* call = awaited(culprit, &waiter);
      if (!call) continue;
      RankProgram& program = replay_.healthy[static_cast<size_t>(culprit)];
      const size_t place = insert(program, as_made_by(*call, waiter));
      targets_[culprit] = place;
    }
    if (targets_.empty())
      return usage_error("no rank of the evidence is in a call that waits for the named ranks");
    if (case_.state.kind == "dead_rank" || case_.state.kind == "exited_rank") end_with_the_others();
    if (const Status done = complete(); !done) return done;
    replay_.diverging = replay_.healthy;
    for (const auto& [culprit, place] : targets_) replay_.divergences.push_back(fault_at(culprit, place));
    return Done{};
  }

  // Ranks that ended together with those that others wait for: before their last call.
  void end_with_the_others() {
    for (const int culprit : case_.state.culprits) {
      const RankProgram& program = replay_.healthy[static_cast<size_t>(culprit)];
      size_t last = program.size();
      while (last > 0 && is_wait(program[last - 1])) --last;
      if (last > 0) targets_.try_emplace(culprit, last - 1);
    }
  }

  ReplayDivergence fault_at(int culprit, size_t place) const {
    ReplayDivergence d{.ranks = {culprit}, .place = place};
    const std::string& kind = case_.state.kind;
    const CaseRank* rank = case_.rank(culprit);
    if (kind == "dead_rank") {
      d.fault = "rank_kill";
      d.signal = rank && rank->signal > 0 ? rank->signal : 9;
    } else if (kind == "exited_rank") {
      d.fault = "rank_exit";
      d.code = rank && rank->code >= 0 ? rank->code : 1;
    } else if (kind == "stopped_rank") {
      d.fault = "rank_stop";
    } else if (kind == "missing_call") {
      d.fault = "skip_call";
    } else {
      d.fault = "delay_call";
    }
    return d;
  }

  // Adds the calls that let all ranks finish: a rank that has no further call on record makes the calls that
  // others wait for. `reorder`: also a rank that waits elsewhere makes them first.
  Status complete(bool reorder = false) {
    for (RankProgram& program : replay_.healthy) wait_at_the_end(program);
    size_t added = 0;
    for (size_t i = 0; i < kMostAdded; ++i) {
      const Simulated end = simulate(replay_.groups, replay_.healthy);
      if (end.stalled.empty()) {
        if (added > 0)
          replay_.notes.push_back(fmt::format(
              "{} calls after the divergence are not on record: the ranks make those that the others "
              "wait for",
              added));
        return Done{};
      }
      if (end.mismatch && !reorder) return do_not_fit(end.stalled.front());
      bool moved = false;
      for (const Stalled& stalled : end.stalled)
        for (const int rank : stalled.needs) {
          if (moved) continue;
          const auto r = static_cast<size_t>(rank);
          const CaseCall call = as_made_by(*stalled.call, stalled.rank);
          if (add_at_the_end(replay_.healthy[r], end.reached[r], call))
            ++added, moved = true;
          else if (reorder)
            added += pull_forward(r, end.reached[r], call), moved = true;
        }
      if (!moved) return do_not_fit(end.stalled.front());
    }
    return usage_error("the ranks make too many calls that are not on record");
  }

  Error do_not_fit(const Stalled& stalled) const {
    const size_t other = stalled.needs.empty() ? 0 : static_cast<size_t>(stalled.needs.front());
    return usage_error(fmt::format(
        "the recorded calls of the other ranks do not fit each other, so no program that finishes can be "
        "made of them: rank {} is in {}{} on {}, and rank {} never makes its part",
        stalled.rank, stalled.call->op, stalled.call->pending ? " (pending)" : "",
        group_of(*stalled.call).name, other));
  }

  // False if the rank still has calls to make. A rank that is in the wait at its end can make more before it.
  static bool add_at_the_end(RankProgram& program, size_t reached, CaseCall call) {
    const bool in_last_wait = reached + 1 == program.size() && is_wait(program.back());
    if (reached < program.size() && !in_last_wait) return false;
    call.pending = in_last_wait;
    program.insert(program.end() - in_last_wait, std::move(call));
    return true;
  }

  // Work that is pending holds its rank at its end at the latest.
  static void wait_at_the_end(RankProgram& program) {
    if (std::any_of(program.begin(), program.end(), [](const CaseCall& call) { return call.pending; }))
      program.push_back({.op = "wait"});
  }

  // Makes the rank's own such call its next one. Returns 1 if it had none, and adds it to both forms.
  size_t pull_forward(size_t rank, size_t reached, const CaseCall& call) {
    RankProgram& program = replay_.healthy[rank];
    const auto next = program.begin() + static_cast<ptrdiff_t>(reached);
    const auto own = std::find_if(next, program.end(), [&](const CaseCall& other) {
      return other.group == call.group && other.op == call.op &&
             (!is_message(call) || other.peer == call.peer);
    });
    if (own != program.end()) {
      std::rotate(next, own, own + 1);
      return 0;
    }
    program.insert(next, call);
    replay_.diverging[rank].push_back(call);
    return 1;
  }

  // The recorded calls as they are, and for the healthy job the calls of the larger side.
  Status other_lines() {
    replay_.diverging = recorded_;
    if (case_.state.kind == "extra_call")
      for (const int culprit : case_.state.culprits)
        std::erase_if(replay_.healthy[static_cast<size_t>(culprit)],
                      [](const CaseCall& call) { return call.open; });
    if (case_.state.kind == "call_mismatch" && !case_.state.culprits.empty())
      for (const int culprit : case_.state.culprits) copy_call_of_others(culprit);
    replay_.divergences.push_back({.ranks = case_.state.culprits,
                                   .stands_for = case_.state.kind == "order_deadlock"
                                                     ? "ranks that make their calls in another order"
                                                     : "a rank that makes another call than the others"});
    return complete(case_.state.kind == "order_deadlock");
  }

  // The call of the culprit at the divergent place becomes the one that the others make there.
  void copy_call_of_others(int culprit) {
    int waiter = -1;
    const CaseCall* theirs = nullptr;
    for (const CaseRank& other : case_.ranks) {
      if (is_culprit(other.rank)) continue;
      for (const CaseCall& call : recorded_[static_cast<size_t>(other.rank)])
        if (call.seq == case_.state.seq && !is_message(call) && !is_wait(call) &&
            group_of(call).name == case_.state.group)
          theirs = &call, waiter = other.rank;
      if (theirs) break;
    }
    if (!theirs) return;
    RankProgram& program = replay_.healthy[static_cast<size_t>(culprit)];
    for (CaseCall& call : program)
      if (call.group == theirs->group && call.seq == theirs->seq && !is_message(call) && !is_wait(call))
        return void(call = as_made_by(*theirs, waiter));
    insert(program, as_made_by(*theirs, waiter));
  }

  const Case& case_;
  Replay replay_;
  std::vector<RankProgram> recorded_;
  std::map<int, size_t> targets_;
};

}  // namespace

Result<Replay> replay_of(const Case& c) { return Builder(c).build(); }

}  // namespace rankfault
