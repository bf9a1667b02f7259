// refute: see refute.h.
#include "tests/falsify/refute.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnose/sequences.h"

namespace rankfault::testing {
namespace {

struct Claimed {
  const Process* process = nullptr;
  const Call* call = nullptr;
};

Claimed find(const JobView& whole, const ClaimedCall& c) {
  const Process* p = whole.rank(c.rank);
  return {p, p ? p->find(c.lane, c.number) : nullptr};
}

std::string returned(const JobView& whole, const Finding& f) {
  for (const ClaimedCall& c : f.claimed)
    if (const Call* call = find(whole, c).call; call && call->succeeded() && call->left != 0)
      return fmt::format("rank {} lane {} call {} returned success", c.rank, c.lane, c.number);
  return "";
}

// All members came to this place, with the same call.
bool all_made_the_same(const CommGroup& group, uint64_t seq) {
  const Call* example = nullptr;
  return std::all_of(group.members.begin(), group.members.end(), [&](const Member& m) {
    const Call* c = m.at(seq);
    if (!example) example = c;
    return c && !(c->flags() & RF_CALL_UNEQUAL) && difference(*example, *c).empty();
  });
}

std::string paired_otherwise(const JobView& whole, const Finding& f) {
  const Call* first = nullptr;
  const CommGroup* group = nullptr;
  for (const ClaimedCall& c : f.claimed) {
    const Claimed claimed = find(whole, c);
    if (!claimed.call) continue;
    if (first && claimed.call->seq != first->seq)
      return fmt::format("rank {}'s call stands at {}, not at {}", c.rank, claimed.call->seq, first->seq);
    if (!first) group = whole.group(*claimed.process, claimed.call->comm());
    if (!first) first = claimed.call;
  }
  if (group && all_made_the_same(*group, first->seq))
    return fmt::format("all members made the same call at {}", first->seq);
  return "";
}

// The instant is that of the whole record; who entered before it, or at it, had entered.
std::string entered_before(const JobView& whole, const Finding& f) {
  for (const ClaimedCall& c : f.claimed) {
    const Claimed claimed = find(whole, c);
    if (!claimed.call) continue;
    if (claimed.call->succeeded())
      return fmt::format("rank {} lane {} call {} returned success", c.rank, c.lane, c.number);
    const TimeNs gave_up = claimed.call->open() ? claimed.process->view->end.time : claimed.call->left;
    const CommGroup* group = whole.group(*claimed.process, claimed.call->comm());
    for (const Member& m : group ? group->members : std::vector<Member>{}) {
      const bool blamed = std::find(f.ranks.begin(), f.ranks.end(), m.world_rank) != f.ranks.end();
      const Call* own = blamed ? m.at(claimed.call->seq) : nullptr;
      if (own && own->entered <= gave_up)
        return fmt::format("rank {} had entered {} when rank {} gave it up", m.world_rank, own->seq, c.rank);
    }
  }
  return "";
}

}  // namespace

std::string refutation(const JobView& whole, const Finding& f) {
  switch (f.claim) {
    case Claim::kCannotReturn:
      return returned(whole, f);
    case Claim::kNotTheSameCall:
      return paired_otherwise(whole, f);
    case Claim::kHadNotEntered:
      return entered_before(whole, f);
    case Claim::kNone:
      break;
  }
  return "";
}

}  // namespace rankfault::testing
