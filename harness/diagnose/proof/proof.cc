#include "harness/diagnose/proof/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "harness/diagnose/messages/messages.h"
#include "harness/diagnose/model/words.h"

namespace rankfault {
namespace {

Assumption assumption_holds(const char* name, std::string why) { return {name, true, std::move(why)}; }
Assumption assumption_fails(const char* name, std::string why) { return {name, false, std::move(why)}; }

const End* end_for(const std::vector<End>& ends, const Process& process) {
  for (const End& e : ends)
    if (e.process == &process) return &e;
  return nullptr;
}

bool waits_in(const std::vector<WaitEdge>& edges, const Process& process, uint32_t lane) {
  return std::any_of(edges.begin(), edges.end(), [&](const WaitEdge& e) {
    if (e.waiter->process != &process) return false;
    const Call* held = e.held ? e.held : process.held_by(*e.call);
    return held && held->lane == lane;
  });
}

bool lane_over(const Process& process, uint32_t index) {
  for (const LaneView& l : process.view->lanes)
    if (l.index == index) return l.state.where == RF_ENDED;
  return true;
}

// Every lane that ever made a call on the communicator has ended or waits within the proof.
bool all_issuers_accounted(const std::vector<WaitEdge>& edges, const Process& process, const CommView& comm) {
  if (comm.flags & RF_COMM_ISSUER_OVERFLOW) return false;
  for (uint32_t lane = 0; lane < RF_MAX_LANES; ++lane)
    if ((comm.issuers >> lane & 1) && !lane_over(process, lane) && !waits_in(edges, process, lane))
      return false;
  return true;
}

bool in_a_cycle(const std::vector<End>& ends) {
  return std::any_of(ends.begin(), ends.end(), [](const End& e) { return e.why == End::Why::kInCycle; });
}

// A thread that never made a call has no lane. If the library allows calls from any thread, such a thread may
// exist. Even if it does not allow them, most libraries accept calls from a second thread.
bool other_threads(const Process& process, const CommGroup& group) {
  return !group.traits().declares_threads || !has_only_thread(process);
}

bool hook_is_missing(const Process& process, rf_library library) {
  for (const Coverage& c : process.view->coverage)
    if (c.library == library && c.hook == RF_HOOK_NONE) return true;
  return false;
}

std::string why_not_seen(const Member& missing, rf_library library) {
  const std::string who = fmt::format("rank {}", missing.world_rank);
  if (!missing.process) return fmt::format("{} has no flight record", who);
  if (!missing.comm) return fmt::format("the record of {} does not know the communicator", who);
  if (missing.comm->identity == RF_ID_NAME)
    return fmt::format("{} identifies the communicator only by name, and names repeat", who);
  const ProcessView& v = *missing.process->view;
  if (v.opaque & RF_OPAQUE_COMMUNICATION)
    return fmt::format("{} made a communication call that no decoder reads", who);
  if (v.partial & RF_PARTIAL_COMMS)
    return fmt::format("{} has more than {} live communicators; calls on the others name none", who,
                       RF_MAX_COMMS);
  if (v.partial != 0) return fmt::format("the record of {} is partial (0x{:x})", who, v.partial);
  if (hook_is_missing(*missing.process, library))
    return fmt::format("rankfault does not record {} of {}", traits_of(library).name, who);
  return "";
}

// Each member of the process has: a process with several devices may destroy them one by one.
bool has_destroyed(const Process& process, const CommGroup& group) {
  const auto is_live = [&](const auto& seat) {
    return seat.first == &group && !seat.second->comm->destroyed;
  };
  return group.of(process) && std::none_of(process.seats.begin(), process.seats.end(), is_live);
}

}  // namespace

// The first failed call has its place by definition, unless the library refuses calls alone.
bool place_is_known(const Member& m, const CommGroup& group, uint64_t seq) {
  if (m.unsure_from == 0 || seq < m.unsure_from) return true;
  return !group.traits().refuses_alone && m.first_failed && m.at(seq) == m.first_failed;
}

std::string why_not_known(const Member& m, const CommGroup& group) {
  return fmt::format("a call of rank {} on {} failed, and the library may not have counted it", m.world_rank,
                     group.name);
}

bool has_only_thread(const Process& process) {
  const ProcessView& v = *process.view;
  return !v.thread_multiple && v.threads != 0 && v.threads <= 1 + v.own_threads.size();
}

bool finalized(const Process& process, const CommGroup& group) {
  return group.traits().must_be_finalized && process.view->stage == RF_STAGE_FINALIZED;
}

End end_of(const Process& process, const CommGroup& group) {
  End end{&process, &group, End::Why::kNotFinal};
  if (process.ended())
    end.why = End::Why::kDead;
  else if (finalized(process, group))
    end.why = End::Why::kFinalized;
  else if (has_destroyed(process, group))
    end.why = End::Why::kDestroyed;
  else if (group.traits().must_be_finalized)
    for (const Call* c : process.all_inside())
      if (c->op() == RF_OP_FINALIZE) end.why = End::Why::kFinalized;
  return end;
}

Assumption every_edge_is_a_need(const std::vector<WaitEdge>& edges) {
  constexpr const char* kName = "every_edge_is_a_need";
  if (edges.empty()) return assumption_fails(kName, "rankfault saw no rank wait");
  for (const WaitEdge& e : edges) {
    if (!e.is_need)
      return assumption_fails(kName,
                              fmt::format("{} of rank {} waits by the library's algorithm, not by need",
                                          op_text(e.call->op()), e.waiter->world_rank));
    if (e.entered != Known::kNo)
      return assumption_fails(kName, fmt::format("rank {} may have entered its part", e.missing->world_rank));
  }
  return assumption_holds(kName,
                          fmt::format("{} by the operation's data flow", counted(edges.size(), "edge")));
}

Assumption ends_are_final(const std::vector<End>& ends) {
  constexpr const char* kName = "ends_are_final";
  if (ends.empty()) return assumption_fails(kName, "no awaited rank has an end");
  std::string why;
  for (const End& e : ends) {
    const char* word = nullptr;
    switch (e.why) {
      case End::Why::kDead:
        word = "has ended";
        break;
      case End::Why::kFinalized:
        word = "has finalised";
        break;
      case End::Why::kDestroyed:
        word = "has destroyed the communicator";
        break;
      case End::Why::kInCycle:
        word = "waits within the cycle";
        break;
      case End::Why::kNotFinal:
        return assumption_fails(kName, fmt::format("rank {} is alive and may still come", e.process->rank()));
    }
    why += fmt::format("{}rank {} {}", why.empty() ? "" : "; ", e.process->rank(), word);
  }
  return assumption_holds(kName, why);
}

Assumption issuers_closed(const std::vector<WaitEdge>& edges, const std::vector<End>& ends) {
  constexpr const char* kName = "issuers_closed";
  std::set<const CommView*> accounted;
  for (const WaitEdge& e : edges) {
    if (!e.missing->process)
      return assumption_fails(kName, fmt::format("rank {} has no record", e.missing->world_rank));
    const End* end = end_for(ends, *e.missing->process);
    if (end && (end->why == End::Why::kDead || end->why == End::Why::kFinalized ||
                (end->why == End::Why::kDestroyed && end->group == e.group)))
      continue;
    if (e.missing->comm && accounted.count(e.missing->comm)) continue;
    if (!e.missing->comm || !all_issuers_accounted(edges, *e.missing->process, *e.missing->comm))
      return assumption_fails(
          kName, fmt::format("another thread or stream of rank {} made calls on {} and may make more",
                             e.missing->world_rank, e.group->name));
    accounted.insert(e.missing->comm);
  }
  return assumption_holds(kName, "no thread or stream remains that could enter the awaited call");
}

Assumption no_new_issuer(const std::vector<End>& ends) {
  constexpr const char* kName = "no_new_issuer";
  for (const End& e : ends)
    if (e.why == End::Why::kInCycle && other_threads(*e.process, *e.group))
      return assumption_fails(
          kName, fmt::format("another thread of rank {} may make its first call on the communicator",
                             e.process->rank()));
  return assumption_holds(kName, "no other thread may make calls");
}

Assumption nobody_gives_up(const std::vector<WaitEdge>& edges) {
  std::string limits;
  for (const WaitEdge& e : edges)
    if (const std::string limit = ends_by_of(*e.call, e.waiter->comm); !limit.empty())
      limits += fmt::format("; rank {} has {}", e.waiter->world_rank, limit);
  return assumption_holds("nobody_gives_up",
                          "assumed: no call of the cycle fails and lets its rank continue" + limits);
}

Assumption full_view(const std::vector<WaitEdge>& edges) {
  constexpr const char* kName = "full_view";
  for (const WaitEdge& e : edges) {
    if (std::string why = why_not_seen(*e.missing, e.group->library); !why.empty())
      return assumption_fails(kName, std::move(why));
    const rf_library waits_in = e.group->traits().stream_waits_in;
    if (waits_in != RF_LIB_NONE && hook_is_missing(*e.waiter->process, waits_in))
      return assumption_fails(
          kName, fmt::format("rankfault does not record the host waits of rank {}", e.waiter->world_rank));
    if (e.call && is_message(e.call->op())) {  // matched by messages sent and taken, not by a place
      if (std::string why = why_not_seen(*e.waiter, e.group->library); !why.empty())
        return assumption_fails(kName, std::move(why));
      continue;
    }
    for (const Member* m : {e.waiter, e.missing})
      if (!place_is_known(*m, *e.group, e.call ? e.call->seq : ~uint64_t{0}))
        return assumption_fails(kName, why_not_known(*m, *e.group));
  }
  return assumption_holds(kName, "the record has every communication call of the awaited processes");
}

Assumption one_look(const std::vector<WaitEdge>& edges, const std::vector<End>& ends) {
  constexpr const char* kName = "one_look";
  const auto moved = [&](const Process* p) { return p && !p->stable; };
  for (const WaitEdge& e : edges)
    for (const Process* p : {e.waiter->process, e.missing->process})
      if (moved(p)) return assumption_fails(kName, fmt::format("rank {} moved during the look", p->rank()));
  for (const End& e : ends)
    if (moved(e.process))
      return assumption_fails(kName, fmt::format("rank {} moved during the look", e.process->rank()));
  return assumption_holds(kName, "two reads of these states gave the same result");
}

void claim(Finding& finding, const std::vector<std::pair<const Member*, const Call*>>& calls) {
  std::set<std::tuple<int, uint32_t, uint32_t>> known;
  for (const auto& [member, call] : calls)
    if (known.emplace(member->world_rank, call->lane, call->number).second)
      finding.claimed.push_back({member->world_rank, call->lane, call->number});
}

void prove(Finding& finding, const std::vector<WaitEdge>& edges, const std::vector<End>& ends) {
  finding.assumes = {every_edge_is_a_need(edges), ends_are_final(ends),
                     issuers_closed(edges, ends), full_view(edges),
                     one_look(edges, ends),       same_calls_before(edges)};
  if (in_a_cycle(ends)) finding.assumes.push_back(no_new_issuer(ends));
  const bool all = std::all_of(finding.assumes.begin(), finding.assumes.end(),
                               [](const Assumption& a) { return a.holds; });
  if (in_a_cycle(ends)) finding.assumes.push_back(nobody_gives_up(edges));
  finding.confidence = all ? Confidence::kProven : Confidence::kInferred;
  finding.claim = all ? Claim::kCannotReturn : Claim::kNone;
  if (!all) return;
  std::vector<std::pair<const Member*, const Call*>> calls;
  for (const WaitEdge& e : edges)
    if (!e.call->succeeded()) calls.emplace_back(e.waiter, e.call);
  claim(finding, calls);
}

void only_infer(Finding& finding) {
  finding.confidence = Confidence::kInferred;
  finding.claim = Claim::kNone;
  finding.claimed.clear();
}

}  // namespace rankfault
