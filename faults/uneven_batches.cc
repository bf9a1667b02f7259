// uneven_batches: the victim's data ends before the data of the other ranks.
#include <fmt/format.h>

#include <algorithm>

#include "faults/effect.h"
#include "faults/lowering.h"

namespace rankfault {
namespace {

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  if (Status ok = need_trigger(fault); !ok) return ok.error();
  if (fault.at.op != "batch")
    return usage_error("uneven_batches ends the data at a batch: write at: {op: batch, nth: N}",
                       fault.at.pos);
  return for_each_victim(fault, context, [](Action& action) { action.verb = RF_VERB_SKIP; });
}

uint64_t batches_of(const RunFacts& facts, int rank, int attempt) {
  return static_cast<uint64_t>(std::count_if(facts.marks.begin(), facts.marks.end(), [&](const Mark& mark) {
    return mark.what == "batch" && mark.rank == rank && mark.attempt == attempt;
  }));
}

EffectReport verify_one(const Action&, const GateEvent& gate, const RunFacts& facts) {
  if (gate.effect != "done")
    return cannot_tell(fmt::format("rank {} did not report that its data ended", gate.rank));
  const uint64_t mine = batches_of(facts, gate.rank, gate.attempt);
  uint64_t most = 0;
  for (int rank = 0; rank < facts.plan.scenario.workload.ranks; ++rank)
    most = std::max(most, batches_of(facts, rank, gate.attempt));
  for (const Mark& mark : facts.marks)
    if (mark.what == "batch" && mark.rank == gate.rank && mark.attempt == gate.attempt &&
        mark.time > acted_at(gate))
      return not_bitten(fmt::format("rank {} took another batch afterwards", gate.rank));
  if (most <= mine)
    return not_bitten(fmt::format("no rank took more batches than rank {} ({})", gate.rank, mine));
  return verified(fmt::format("rank {} took {} batches, another rank {}", gate.rank, mine, most),
                  acted_at(gate));
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, verify_one);
}

const Registration<FaultKind> kRegistration{{
    .name = "uneven_batches",
    .summary = "The victim's data loader ends at the trigger while the other ranks still have batches.",
    .stands_for = "a data set that does not divide by the world size, one corrupt shard, a filter that drops "
                  "samples on one rank",
    .not_the_same = "a loader that fails: the victim sees an ordinary end of its data",
    .verified_by = "the victim took fewer batches than another rank, and none after the trigger",
    .example = "uneven_batches@rank=2,op=batch,nth=10",
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
