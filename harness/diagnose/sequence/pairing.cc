#include "harness/diagnose/sequence/pairing.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnose/model/nccl_groups.h"
#include "harness/diagnose/model/needs.h"
#include "harness/diagnose/model/words.h"
#include "harness/diagnose/sequence/gloo_slots.h"
#include "harness/diagnose/sequence/lost_calls.h"
#include "harness/diagnose/sequence/places.h"
#include "harness/diagnose/waits/before_timeouts.h"

namespace rankfault {
namespace {

std::vector<WaitEdge> edges_of(const Divergence& d) {
  std::vector<WaitEdge> edges;
  for (const auto* side : {&d.majority, &d.minority})
    for (const Member* m : *side) edges.push_back({d.group, m, m->at(d.seq), m, true, Known::kNo});
  return edges;
}

// The library refuses no call after it has waited for others.
bool waited_and_ended(const Member& m, const Call& c) {
  return ended_by(m, c) && !may_have_been_refused(c, c.left);
}

// The library may have refused a call that failed. Such a call proves nothing, unless it was the first one to
// fail, waited for others, and ended its rank.
Assumption every_place_is_known(const std::vector<WaitEdge>& edges) {
  constexpr const char* kName = "every_place_is_known";
  for (const WaitEdge& e : edges)
    if (e.waiter->unsure_from != 0 && e.call && e.call->seq >= e.waiter->unsure_from &&
        !(e.call == e.waiter->first_failed && waited_and_ended(*e.waiter, *e.call)))
      return {kName, false, why_not_known(*e.waiter, *e.group)};
  return {kName, true, "no call failed before the compared calls"};
}

// NCCL puts the calls of one group into an order of its own, by their sizes.
Assumption in_program_order(const std::vector<WaitEdge>& edges) {
  constexpr const char* kName = "in_program_order";
  for (const WaitEdge& e : edges)
    if (e.call && in_nccl_group(*e.waiter->process, *e.call))
      return {kName, false,
              fmt::format("the call of rank {} is in a group, and NCCL orders the calls of a group",
                          e.waiter->world_rank)};
  return {kName, true, "no compared call is in a group"};
}

// A member that omitted one of the lost calls is one place behind: the call at the same place is then not its
// pair.
Assumption same_lost_calls(const CommGroup& group) {
  const std::string why = lost_calls_may_differ(group);
  return {"same_calls_before", why.empty(),
          why.empty() ? "the checksums of the overwritten calls are equal" : why};
}

}  // namespace

std::vector<int> world_ranks(const std::vector<const Member*>& members) {
  std::vector<int> ranks;
  ranks.reserve(members.size());
  for (const Member* m : members) ranks.push_back(m->world_rank);
  return sorted_unique(std::move(ranks));
}

Finding finding_about(const JobView& job, const Divergence& d, const char* kind) {
  Finding f;
  f.kind = kind;
  f.attempt = job.attempt();
  f.at = d.at;
  set_comm(f, *d.group);
  std::vector<MemberCall> member_calls;
  for (const auto* side : {&d.majority, &d.minority})
    for (const Member* m : *side) member_calls.push_back({m, m->at(d.seq)});
  f.sides = sides_of(member_calls, *d.group);
  for (const Side& s : f.sides) f.evidence.push_back(fmt::format("{}: {}", ranks_text(s.ranks), s.what));
  const auto& blamed = d.lone_root ? d.majority : d.minority;
  if (d.lone_root || (!d.tie && d.group->size > 2)) f.ranks = world_ranks(blamed);
  return f;
}

void prove_pairing(Finding& f, const Divergence& d) {
  const std::vector<WaitEdge> edges = edges_of(d);
  f.assumes = {full_view(edges), one_look(edges, {}), every_place_is_known(edges)};
  const Pairing pairing = d.group->traits().pairing;
  if (pairing == Pairing::kByOrderOfGroups) f.assumes.push_back(in_program_order(edges));
  if (pairing == Pairing::kBySlot) f.assumes.push_back(same_slot(edges));
  if (d.group->first_seq() > 1) f.assumes.push_back(same_lost_calls(*d.group));
  const bool all =
      std::all_of(f.assumes.begin(), f.assumes.end(), [](const Assumption& a) { return a.holds; });
  f.confidence = all ? Confidence::kProven : Confidence::kInferred;
  f.claim = all ? Claim::kNotTheSameCall : Claim::kNone;
  if (!all) return;
  std::vector<std::pair<const Member*, const Call*>> calls;
  for (const WaitEdge& e : edges)
    if (e.call) calls.emplace_back(e.waiter, e.call);
  claim(f, calls);
}

bool prove_waiting(Finding& f, const Divergence& d, const std::vector<const Member*>& came,
                   const std::vector<const Member*>& absent) {
  std::vector<WaitEdge> edges;
  std::vector<End> ends;
  for (const Member* waiter : came) {
    const Call* c = first_unfinished(*waiter, d.seq);
    if (!c) continue;
    const Needs needs = needs_of(*c, *waiter, *d.group);
    for (const Member* missing : absent)
      edges.push_back(
          {d.group, waiter, c, missing, needs.certainly(missing->rank), missing->entered(c->seq)});
    if (f.ends_by.empty()) f.ends_by = ends_by_of(*c, waiter->comm);
  }
  if (edges.empty()) return false;
  if (std::any_of(edges.begin(), edges.end(), [](const WaitEdge& e) { return e.is_need; }))
    std::erase_if(edges, [](const WaitEdge& e) { return !e.is_need; });
  std::vector<MemberCall> member_calls;  // the claim is about the calls they wait in, which may be later ones
  member_calls.reserve(edges.size() + absent.size());
  for (const WaitEdge& e : edges) member_calls.push_back({e.waiter, e.call});
  for (const Member* m : absent) {
    member_calls.push_back({m, nullptr});
    ends.push_back(end_of(*m->process, *d.group));
  }
  f.sides = sides_of(member_calls, *d.group);
  prove(f, edges, ends);
  return true;
}

void name_call(Finding& f, const Divergence& d, const std::vector<const Member*>& who_made_it) {
  f.seq = SeqRange{d.from, d.to};
  if (d.from != d.to)
    f.seq_reason = fmt::format("{} equal calls; the record cannot say which one", d.to - d.from + 1);
  if (!d.named) return;
  f.op = op_text(d.named->op());
  for (const Member* m : who_made_it)
    for (const Call* c : m->calls)
      if (c == d.named) f.call_site = call_site_of(*m->process, *c);
}

}  // namespace rankfault
