// same_calls: the assumption same_calls_before (proof.h): the place of a call determines which calls it pairs
// with.
//
// Most libraries pair the messages of collectives by kind and source, not by a count of calls. They pass
// parts on from member to member and may build one collective from others (an all-reduce from a reduce and a
// broadcast). So a call may be served by a call at another place, or by a different call at its own place:
// after a member omitted a call that no rank waited for, and as soon as a member that is behind omits one.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/diagnose/messages/messages.h"
#include "harness/diagnose/model/needs.h"
#include "harness/diagnose/proof/proof.h"
#include "harness/diagnose/sequence/first_difference.h"
#include "harness/diagnose/sequence/lost_calls.h"
#include "harness/diagnose/sequence/sequences.h"

namespace rankfault {
namespace {

using Held = std::set<const Process*>;

bool same_up_to(const CommGroup& group, uint64_t seq) {
  const uint64_t differ_from = first_difference(group);
  return differ_from == 0 || differ_from > seq;
}

// Returns "" if all members made the same calls up to this place, as far as they have come.
std::string why_calls_may_differ(const CommGroup& group, uint64_t seq) {
  if (!same_up_to(group, seq))
    return fmt::format("the calls on {} differ from call {} on, so the partners of call {} are unknown",
                       group.name, first_difference(group), seq);
  return lost_calls_may_differ(group);
}

bool never_goes_on(const Member& m, const CommGroup& group, const Held& held) {
  return m.process && (held.count(m.process) || end_of(*m.process, group).why != End::Why::kNotFinal);
}

bool collective_needs_held(const Call& c, const Member& me, const CommGroup& group, const Held& held) {
  const Needs needs = needs_of(c, me, group);
  return same_up_to(group, c.seq) && place_is_known(me, group, c.seq) &&
         std::any_of(group.members.begin(), group.members.end(), [&](const Member& m) {
           return needs.certainly(m.rank) && m.entered(c.seq) == Known::kNo &&
                  place_is_known(m, group, c.seq) && never_goes_on(m, group, held);
         });
}

bool message_needs_held(const Call& c, const Member& me, const CommGroup& group, const Held& held) {
  const Partners partners = partners_of(c, group);
  if (!partners.by_need || partners.ranks.size() != 1) return false;
  const Member& other = group.members[static_cast<size_t>(partners.ranks.front())];
  return never_goes_on(other, group, held) && partner_entered(c, me, other) == Known::kNo;
}

// Whether the only thread of the process is in a call, or in a wait for one, that needs a member that will
// never come.
bool waits_for_held(const Process& p, const Held& held) {
  if (!has_only_thread(p)) return false;
  const auto sits_for = [&](const Call& c) {
    const Call* in = c.succeeded() || c.op() == RF_OP_FINALIZE ? nullptr : p.held_by(c);
    return in && in->op() != RF_OP_WAIT_ANY;
  };
  for (const auto& [group, me] : p.seats) {
    if (!group->traits().declares_threads || (group->flags & RF_COMM_INTER)) continue;
    for (const Call* c : me->calls)
      if (sits_for(*c) && collective_needs_held(*c, *me, *group, held)) return true;
    for (const Call& c : p.calls)
      if (is_message(c.op()) && c.comm() == me->comm->index && sits_for(c) &&
          message_needs_held(c, *me, *group, held))
        return true;
  }
  return false;
}

// Returns a member that has not come to this place and may still make calls before it; null: none. A rank
// that waits for a member that never goes on is held, too.
const Member* behind(const CommGroup& group, uint64_t seq, Held held) {
  std::vector<const Member*> waiting;
  const Member* late = nullptr;
  for (const Member& m : group.members) {
    if (never_goes_on(m, group, held)) continue;
    const bool is_late = m.last_entered() < seq;
    if (is_late) late = &m;
    if (m.process && !m.process->all_inside().empty())
      waiting.push_back(&m);
    else if (is_late)
      return late;
  }
  for (bool more = late != nullptr; more;) {
    more = std::erase_if(waiting, [&](const Member* m) {
      return waits_for_held(*m->process, held) && held.insert(m->process).second;
    });
  }
  const auto left =
      std::find_if(waiting.begin(), waiting.end(), [&](const Member* m) { return m->last_entered() < seq; });
  return left == waiting.end() ? nullptr : *left;
}

}  // namespace

Assumption same_calls_up_to(const CommGroup& group, uint64_t seq) {
  constexpr const char* kName = "same_calls_before";
  if (std::string why = why_calls_may_differ(group, seq); !why.empty()) return {kName, false, std::move(why)};
  return {kName, true, fmt::format("all members made the same calls up to call {}", seq)};
}

Assumption same_calls_before(const std::vector<WaitEdge>& edges) {
  constexpr const char* kName = "same_calls_before";
  Held held;
  std::set<const Member*> seen;
  std::map<const CommGroup*, uint64_t> last;  // the last place that a rank waits at
  for (const WaitEdge& e : edges) {
    held.insert(e.waiter->process);
    seen.insert({e.waiter, e.missing});
    if (!e.call || is_message(e.call->op())) continue;
    uint64_t& seq = last[e.group];
    seq = std::max(seq, e.call->seq);
  }
  for (const auto& [group, seq] : last) {
    if (std::string why = why_calls_may_differ(*group, seq); !why.empty())
      return {kName, false, std::move(why)};
    if (group->traits().pairing == Pairing::kByNumberOfLibrary) continue;
    for (const Member& m : group->members)  // full_view checks the same for those in the proof
      if (!seen.count(&m) && !place_is_known(m, *group, seq)) return {kName, false, why_not_known(m, *group)};
    if (const Member* m = behind(*group, seq, held))
      return {kName, false,
              fmt::format("rank {} has not reached call {} on {} and may make another call first",
                          m->world_rank, seq, group->name)};
  }
  return {kName, true, "all members that may still make calls made the same calls up to the open ones"};
}

}  // namespace rankfault
