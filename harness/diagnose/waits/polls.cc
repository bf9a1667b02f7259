#include "harness/diagnose/waits/polls.h"

#include <algorithm>

#include "harness/agent/named_calls.h"
#include "harness/diagnose/timing/wait_thresholds.h"

namespace rankfault {
namespace {

constexpr Duration kAMoment = 1s;

bool is_of_all(const Call& c) { return rf_is_named(c.op()) && c.count() != 0; }

}  // namespace

bool polls(const Process& p, Instant look) {
  return std::any_of(p.view->lanes.begin(), p.view->lanes.end(), [&](const LaneView& l) {
    return l.state.where == RF_OUTSIDE && is_known(l.polled) && lasted(l.polled, look) <= kAMoment;
  });
}

const Call* in_call_of_all(const Process& p) {
  for (const Call* c : p.all_inside())
    if (is_of_all(*c)) return c;
  return nullptr;
}

const Call* in_call_of_all(const Member& m) {
  if (!m.process || !m.comm || m.process->ended()) return nullptr;
  for (const Call* c : m.process->all_inside())
    if (is_of_all(*c) && c->comm() == m.comm->index) return c;
  return nullptr;
}

bool is_outside(const Process& p) {
  const std::vector<const Call*> inside = p.all_inside();
  return std::all_of(inside.begin(), inside.end(), [](const Call* c) { return rf_is_named(c->op()); });
}

std::vector<WaitEdge> waits_by_name(const JobView& job, const Process& awaited, Duration longer_than) {
  std::vector<WaitEdge> edges;
  for (const auto& [group, me] : awaited.seats) {
    if (!group->traits().has_named_calls || in_call_of_all(*me)) continue;
    for (const Member& m : group->members)
      if (const Call* c = &m == me ? nullptr : in_call_of_all(m);
          c && lasted(c->entered, job.timeline().look) > longer_than)
        edges.push_back({group, &m, c, me, false, Known::kNo, c});
  }
  return edges;
}

}  // namespace rankfault
