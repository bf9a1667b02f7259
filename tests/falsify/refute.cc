#include "tests/falsify/refute.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnose/sequence/sequences.h"

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
    if (const Call* call = find(whole, c).call; call && call->succeeded() && is_known(call->left))
      return fmt::format("rank {} lane {} call {} returned success", c.rank, c.lane, c.number);
  return "";
}

// The place that the library gave to the call. If it is not known, the place in the whole record.
uint64_t place_of(const TruePlaces& places, int rank, const Call& c) {
  const auto at = places.find({rank, c.lane, c.number});
  return at == places.end() ? c.seq : at->second;
}

const Call* call_at(const TruePlaces& places, const Member& m, uint64_t place) {
  if (!m.process || !m.comm) return nullptr;
  for (const Call& c : m.process->calls)
    if (c.comm() == m.comm->index && is_positional(c.op()) && !(c.flags() & RF_CALL_EXECUTION) &&
        place_of(places, m.world_rank, c) == place)
      return &c;
  return nullptr;
}

// All members came to this place with the same call.
bool all_made_the_same(const CommGroup& group, uint64_t place, const TruePlaces& places) {
  CallsAtOnePlace calls;
  return std::all_of(group.members.begin(), group.members.end(), [&](const Member& m) {
    const Call* c = call_at(places, m, place);
    return c && !(c->flags() & RF_CALL_UNEQUAL) && calls.add(*c).empty();
  });
}

std::string paired_otherwise(const JobView& whole, const Finding& f, const TruePlaces& places) {
  const CommGroup* group = nullptr;
  uint64_t first = 0;
  for (const ClaimedCall& c : f.claimed) {
    const Claimed claimed = find(whole, c);
    if (!claimed.call) continue;
    const uint64_t place = place_of(places, c.rank, *claimed.call);
    if (place == 0) return fmt::format("the library refused the call of rank {}: it meets no call", c.rank);
    if (first != 0 && place != first)
      return fmt::format("rank {}'s call stands at {}, not at {}", c.rank, place, first);
    if (first == 0) group = whole.group(*claimed.process, claimed.call->comm());
    first = place;
  }
  if (group && all_made_the_same(*group, first, places))
    return fmt::format("all members made the same call at {}", first);
  return "";
}

// The time at which the rank left the call. A call that was not seen complete ends with its communicator or
// process.
Instant left_at(const Process& p, const Call& call) {
  if (call.status == Call::Status::kFailed) return call.left;
  Instant at = p.ended() ? p.view->end.time : kEndOfTime;
  for (const Call& c : p.calls)
    if (c.op() == RF_OP_COMM_ABORT && c.entered > call.entered) at = std::min(at, c.entered);
  return at;
}

// The instant is on the clock of the whole record. A rank that entered at or before it had entered.
std::string entered_before(const JobView& whole, const Finding& f, const TruePlaces& places) {
  for (const ClaimedCall& c : f.claimed) {
    const Claimed claimed = find(whole, c);
    if (!claimed.call) continue;
    if (claimed.call->succeeded())
      return fmt::format("rank {} lane {} call {} returned success", c.rank, c.lane, c.number);
    const uint64_t place = place_of(places, c.rank, *claimed.call);
    if (place == 0) return fmt::format("the library refused the call of rank {}", c.rank);
    const Instant gave_up = left_at(*claimed.process, *claimed.call);
    const CommGroup* group = whole.group(*claimed.process, claimed.call->comm());
    for (const Member& m : group ? group->members : std::vector<Member>{}) {
      const bool blamed = std::find(f.ranks.begin(), f.ranks.end(), m.world_rank) != f.ranks.end();
      const Call* own = blamed ? call_at(places, m, place) : nullptr;
      if (own && own->entered <= gave_up)
        return fmt::format("rank {} had entered {} when rank {} gave it up", m.world_rank, place, c.rank);
    }
  }
  return "";
}

}  // namespace

std::string refutation(const JobView& whole, const Finding& f, const TruePlaces& places) {
  switch (f.claim) {
    case Claim::kCannotReturn:
      return returned(whole, f);
    case Claim::kNotTheSameCall:
      return paired_otherwise(whole, f, places);
    case Claim::kHadNotEntered:
      return entered_before(whole, f, places);
    case Claim::kNone:
      break;
  }
  return "";
}

}  // namespace rankfault::testing
