// rank_exit: the victim calls _exit at a known point, without notice to its peers.
#include <fmt/format.h>

#include <algorithm>

#include "faults/effect.h"
#include "faults/lowering.h"

namespace rankfault {
namespace {

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  if (Status ok = need_trigger(fault); !ok) return ok.error();
  const int64_t code = read_int(fault.params, "code", 1);
  if (code < 0 || code > 255)
    return usage_error(fmt::format("\"code\" must be 0 to 255, not {}", code),
                       fault.params.find("code")->pos);
  return for_each_victim(fault, context, [&](Action& action) {
    action.verb = RF_VERB_EXIT;
    action.exit_code = static_cast<int>(code);
  });
}

EffectReport verify_one(const Action& action, const GateEvent& gate, const RunFacts& facts) {
  const RankEnd* end = end_of(gate, facts);
  if (!end) return not_bitten(fmt::format("rank {} did not end", gate.rank));
  if (end->status.kind == ExitStatus::Kind::kUnknown)
    return cannot_tell(fmt::format("rank {} ended, but its status is unknown", gate.rank));
  if (end->status.kind != ExitStatus::Kind::kCode || end->status.value != action.exit_code)
    return not_bitten(fmt::format("rank {} did not end by exit {}", gate.rank, action.exit_code));
  return verified(fmt::format("rank {} ended by exit {}", gate.rank, action.exit_code),
                  std::min(acted_at(gate), end->time));
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, verify_one);
}

const Registration<FaultKind> kRegistration{{
    .name = "rank_exit",
    .summary = "The victim calls _exit at the trigger.",
    .stands_for =
        "a program that exits on an error of its own, or early with status 0, while its peers expect it",
    .not_the_same =
        "an orderly end: no destructor, no atexit handler and no finalisation of the library runs",
    .verified_by = "the victim's exit status is that code",
    .example = "rank_exit@rank=2,op=all_reduce,nth=3,code=0",
    .ends_ranks = true,
    .params = {{"code", ParamType::kInt, false, "The exit code, 0 to 255; 1 when not given."}},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
