#include "harness/diagnose/sequence/gloo_slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/diagnose/sequence/sequences.h"

namespace rankfault {
namespace {

// Operations with and without own counts share a slot.
uint16_t slot_of(uint16_t op) {
  switch (op) {
    case RF_OP_ALL_GATHERV:
      return RF_OP_ALL_GATHER;
    case RF_OP_GATHERV:
      return RF_OP_GATHER;
    case RF_OP_ALL_TO_ALLV:
      return RF_OP_ALL_TO_ALL;
    default:
      return op;
  }
}

using Calls = std::vector<const Call*>;  // of one member and slot, in order

// Whether some thread runs the program's own code: Gloo allows any thread to call.
bool may_come(const Member& m) {
  const std::vector<LaneView>& lanes = m.process->view->lanes;
  return !m.process->ended() && std::any_of(lanes.begin(), lanes.end(), [](const LaneView& l) {
    return l.kind == RF_LANE_THREAD && l.state.where != RF_INSIDE && l.state.where != RF_ENDED;
  });
}

// A call that gave up shows that the member had not come. If the absent member has a single thread and that
// thread had continued by then, it came too late.
bool is_let_down_by(const Call& c, const Member& absent) {
  if (c.succeeded()) return absent.process->ended();
  return !may_come(absent) || (c.status == Call::Status::kFailed && only_issuer(*absent.comm));
}

// A waiting call is stronger evidence than a call that returned.
bool lets_down(const Member& absent, const Calls& came) {
  const bool any_waits = std::any_of(came.begin(), came.end(), [](const Call* c) { return !c->succeeded(); });
  return std::any_of(came.begin(), came.end(), [&](const Call* c) {
    return !(any_waits && c->succeeded()) && is_let_down_by(*c, absent);
  });
}

// Compares the members' calls of one slot side by side.
bool all_served(const std::vector<std::pair<const Member*, Calls>>& members) {
  size_t longest = 0;
  for (const auto& [m, calls] : members) longest = std::max(longest, calls.size());
  for (size_t k = 0; k < longest; ++k) {
    CallsAtOnePlace at;
    Calls came;
    for (const auto& [m, calls] : members) {
      if (k >= calls.size()) continue;
      if (!at.add(*calls[k]).empty()) return false;
      came.push_back(calls[k]);
    }
    for (const auto& [m, calls] : members)
      if (k >= calls.size() && lets_down(*m, came)) return false;
  }
  return true;
}

}  // namespace

bool each_meets_its_like(const CommGroup& group, uint64_t from_seq) {
  std::map<uint16_t, std::vector<std::pair<const Member*, Calls>>> slots;
  for (const Member& m : group.members)
    for (const Call* c : m.calls)
      if (c->seq >= from_seq) slots[slot_of(c->op())];
  for (auto& [slot, members] : slots)
    for (const Member& m : group.members) {
      if (!m.comm) continue;
      Calls calls;
      for (const Call* c : m.calls)
        if (c->seq >= from_seq && slot_of(c->op()) == slot) calls.push_back(c);
      members.emplace_back(&m, std::move(calls));
    }
  return std::all_of(slots.begin(), slots.end(), [](const auto& s) { return all_served(s.second); });
}

Assumption same_slot(const std::vector<WaitEdge>& edges) {
  constexpr const char* kName = "same_slot";
  for (const WaitEdge& e : edges)
    if (e.call && slot_of(e.call->op()) != slot_of(edges.front().call->op()))
      return {kName, false,
              fmt::format("Gloo pairs calls by operation and tag, so {} and {} never pair",
                          op_text(edges.front().call->op()), op_text(e.call->op()))};
  return {kName, true, "the calls have the same operation and tag"};
}

}  // namespace rankfault
