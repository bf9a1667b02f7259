#include "harness/reproduce/same_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/base/rank_words.h"
#include "harness/reproduce/replay.h"

namespace rankfault {
namespace {

// Gloo performs an all_to_all of equal shares as one without counts.
std::string op_of(const std::string& op) { return op == "all_to_allv" ? "all_to_all" : plain_op(op); }

std::vector<int> members_of(const Case& c, int group) {
  return group < 0 ? std::vector<int>{} : c.groups[static_cast<size_t>(group)].members;
}

// The open calls of that operation.
std::vector<const CaseCall*> waits_of(const Case& c, int rank, const std::string& op) {
  std::vector<const CaseCall*> waits;
  if (const CaseRank* found = c.rank(rank))
    for (const CaseCall& call : found->calls)
      if (call.open && op_of(call.op) == op_of(op)) waits.push_back(&call);
  return waits;
}

// Whether the rank waits in `got` as it does in `wanted`: in that operation, with the same members or the
// same peer.
bool waits_alike(const Case& wanted, const Case& got, int rank) {
  const auto theirs = waits_of(got, rank, wanted.state.op);
  for (const CaseCall* call : waits_of(wanted, rank, wanted.state.op))
    for (const CaseCall* other : theirs)
      if (members_of(wanted, call->group) == members_of(got, other->group)) return true;
  return false;
}

bool is_waiting(const Case& c, int rank) {
  const CaseRank* found = c.rank(rank);
  return found && std::any_of(found->calls.begin(), found->calls.end(),
                              [](const CaseCall& call) { return call.open; });
}

}  // namespace

std::vector<std::string> equal_kinds(const std::string& kind) {
  static const std::vector<std::string> kDoesNotCome{"stuck_outside", "slow_rank"};
  if (std::find(kDoesNotCome.begin(), kDoesNotCome.end(), kind) != kDoesNotCome.end()) return kDoesNotCome;
  return {kind};
}

bool alike(const std::string& kind, const std::string& other) {
  static const std::vector<std::set<std::string>> kAlike{
      {"stuck_outside", "slow_rank", "stopped_rank", "late_rank", "dead_rank", "exited_rank"},
      {"missing_call", "call_mismatch", "extra_call"}};
  return kind == other || std::any_of(kAlike.begin(), kAlike.end(), [&](const std::set<std::string>& one) {
           return one.count(kind) > 0 && one.count(other) > 0;
         });
}

std::string difference(const HangState& wanted, const HangState& got) {
  if (!got.hangs()) return "the small job does not hang";
  const std::vector<std::string> kinds = equal_kinds(wanted.kind);
  const bool same = std::find(kinds.begin(), kinds.end(), got.kind) != kinds.end();
  if (!same && !(wanted.kind_is_guessed && alike(wanted.kind, got.kind)))
    return fmt::format("{} instead of {}", got.kind, wanted.kind);
  if (!wanted.resource.empty()) return "";  // which rank meets it first is chance
  if (got.culprits != wanted.culprits)
    return fmt::format("it blames {} instead of {}", ranks_text(got.culprits), ranks_text(wanted.culprits));
  if (!wanted.field.empty() && !wanted.kind_is_guessed && wanted.field != got.field)
    return fmt::format("{} differs instead of {}", got.field, wanted.field);
  return "";
}

std::string difference(const Case& wanted, const Case& got) {
  if (std::string differs = difference(wanted.state, got.state); !differs.empty()) return differs;
  if (wanted.state.kind == "init_stall") return "";  // their calls have no place yet
  for (const int waiter : wanted.state.waiters) {
    // The evidence itself may not have the call: a log names the operation of some ranks alone.
    const bool known = !waits_of(wanted, waiter, wanted.state.op).empty();
    if (known ? waits_alike(wanted, got, waiter) : is_waiting(got, waiter)) continue;
    return fmt::format("rank {} does not wait in {}", waiter, wanted.state.op);
  }
  return "";
}

}  // namespace rankfault
