// flip_value: flips one bit of a value that the workload reports, on its way into the record.
#include <fmt/format.h>

#include <algorithm>

#include "faults/effect.h"
#include "faults/lowering.h"

namespace rankfault {
namespace {

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  const Trigger& at = fault.at;
  if (!at.file_op.empty() || !at.mark.empty() || (!at.op.empty() && at.op != "value"))
    return usage_error(
        "flip_value acts on a reported value: name it with \"value\", and the time with \"step\" or \"nth\"",
        at.pos);
  const int64_t bit = read_int(fault.params, "bit", static_cast<int64_t>(context.seed % 52));
  if (bit < 0 || bit > 63)
    return usage_error(fmt::format("\"bit\" must be 0 to 63, not {}", bit), fault.params.find("bit")->pos);
  return for_each_victim(fault, context, [&](Action& action) {
    action.verb = RF_VERB_FLIP;
    action.at.op = "value";
    action.at.mark = read_text(fault.params, "value");
    action.size = bit;
  });
}

EffectReport verify_one(const Action& action, const GateEvent& gate, const RunFacts& facts) {
  if (gate.effect != "done")
    return cannot_tell(fmt::format("rank {} did not report that it flipped the bit", gate.rank));
  const bool recorded = std::any_of(facts.marks.begin(), facts.marks.end(), [&](const Mark& mark) {
    return mark.what == "value" && mark.rank == gate.rank && mark.attempt == gate.attempt &&
           (action.at.mark.empty() || mark.name == action.at.mark) && mark.time >= gate.asked;
  });
  if (!recorded) return not_bitten(fmt::format("rank {} recorded no matching value afterwards", gate.rank));
  return verified(fmt::format("bit {} of a value of rank {} was flipped", action.size, gate.rank),
                  acted_at(gate));
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, verify_one);
}

const Registration<FaultKind> kRegistration{{
    .name = "flip_value",
    .summary = "Flips one bit of a value that the workload reports (rankfault_value).",
    .stands_for = "a silent data corruption that only a comparison with a reference can show",
    .not_the_same =
        "corrupted memory of the workload: its own values stay right, and only the reported value is wrong",
    .verified_by = "the agent flipped the bit, and the record holds the value",
    .example = "flip_value@rank=0,value=weights,step=10,bit=3",
    .params = {{"value", ParamType::kText, false,
                "The name the workload reports it under; any when not given."},
               {"bit", ParamType::kInt, false, "Which bit, 0 to 63; drawn from the seed when not given."}},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
