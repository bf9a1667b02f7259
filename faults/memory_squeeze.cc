// memory_squeeze: from the trigger on, the victim gets no memory beyond its use and `spare`: the kernel
// returns ENOMEM, and the allocator throws std::bad_alloc or returns a null pointer.
//
// The limit is RLIMIT_DATA, not RLIMIT_AS. RLIMIT_DATA counts private writable pages. Reserved address space
// (the allocator's arenas, a GPU's) and shared files do not use memory, but RLIMIT_AS counts them. With it,
// an allocator with a reserved arena would have no limit.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "faults/effect.h"
#include "faults/limit_lowering.h"

namespace rankfault {
namespace {

constexpr const char* kMark = "out_of_memory";

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  return lower_to_limit(fault, context, RLIMIT_DATA);
}

// Returns when the limit was removed, or kEndOfTime.
Instant lifted_at(const Action& action, const RunFacts& facts) {
  for (const Action& lift : facts.plan.actions)
    if (lift.outside == "unlimit" && lift.after == static_cast<int32_t>(action.id))
      if (const auto line = effect_line(lift, facts, "unlimited")) return line->time.value_or(Instant{});
  return kEndOfTime;
}

const Mark* said_so(const GateEvent& gate, const RunFacts& facts, Instant until) {
  const auto mark = std::find_if(facts.marks.begin(), facts.marks.end(), [&](const Mark& m) {
    return m.rank == gate.rank && m.attempt == gate.attempt && m.name == kMark && m.time >= gate.asked &&
           m.time <= until;
  });
  return mark == facts.marks.end() ? nullptr : &*mark;
}

std::string words(const ExitStatus& status) {
  return status.kind == ExitStatus::Kind::kSignal ? signal_name(status.value)
                                                  : fmt::format("exit {}", status.value);
}

bool ended_badly(const RankEnd& end) {
  return end.status.kind == ExitStatus::Kind::kUnknown || !end.status.zero();
}

// A rank that ends after a peer, or that the harness ended, may have had all the memory it wanted.
bool was_first(const RankEnd& victim, const RunFacts& facts) {
  if (is_known(facts.teardown) && victim.time >= facts.teardown) return false;
  return std::none_of(facts.ends.begin(), facts.ends.end(), [&](const RankEnd& other) {
    return other.attempt == victim.attempt && other.rank != victim.rank && other.time <= victim.time &&
           ended_badly(other);
  });
}

EffectReport verify_one(const Action& action, const GateEvent& gate, const RunFacts& facts) {
  const auto limited = effect_line(action, facts, "limited");
  if (!limited) return cannot_tell(fmt::format("rankfault did not see the limit of rank {} set", gate.rank));
  const std::vector<uint64_t> lines{limited.n};
  const Instant until = lifted_at(action, facts);
  if (const Mark* mark = said_so(gate, facts, until))
    return verified(fmt::format("rank {} reported that it was out of memory", gate.rank), mark->time, lines);
  const RankEnd* end = end_of(gate, facts);
  if (!end || end->status.zero() || end->time > until)
    return not_bitten(fmt::format("{} bytes more were enough for rank {}", action.size, gate.rank), lines);
  if (end->status.kind == ExitStatus::Kind::kUnknown)
    return cannot_tell(fmt::format("rank {} ended, but its status is unknown", gate.rank), lines);
  if (const Action* other = another_fault(action.fault, facts, end->attempt, end->time))
    return cannot_tell(fmt::format("rank {} ended after fault \"{}\", and reported no lack of memory",
                                   gate.rank, other->fault),
                       lines);
  if (!was_first(*end, facts))
    return cannot_tell(
        fmt::format("rank {} was not the first to end, and reported no lack of memory", gate.rank), lines);
  return verified(fmt::format("rank {} ended by {} when it could get only {} bytes more", gate.rank,
                              words(end->status), action.size),
                  end->time, lines);
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, verify_one);
}

const Registration<FaultKind> kRegistration{{
    .name = "memory_squeeze",
    .summary = "The victim's soft limit of private writable memory becomes the amount that it has at the "
               "trigger, for good or for a time.",
    .stands_for = "a memory limit of a batch system, a neighbour that left no memory, a batch that is larger "
                  "than all before",
    .not_the_same = "the OOM killer: the allocation fails and the program sees the error. Memory that the "
                    "allocator already holds, shared memory and device memory are not limited",
    .verified_by =
        "the victim's mark \"out_of_memory\", or its own end with an error before any other rank's",
    .example = "memory_squeeze@rank=1,step=5,op=all_reduce,spare=10485760",
    .params = {{"spare", ParamType::kInt, false, "How many more bytes it may take; 0 when not given."},
               {"for", ParamType::kDuration, false, "How long; until the victim's end when not given."}},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
