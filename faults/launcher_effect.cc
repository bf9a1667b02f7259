#include "faults/launcher_effect.h"

#include <fmt/format.h>
#include <signal.h>

#include "faults/lowering.h"

namespace rankfault {

Result<std::vector<Action>> lower_to_launcher(const FaultSpec& fault, const LowerContext& context,
                                              const char* act) {
  if (Status ok = need_trigger(fault); !ok) return ok.error();
  return for_each_victim(fault, context, [&](Action& action) {
    action.verb = RF_VERB_OUTSIDE;
    action.outside = act;
    action.signal = SIGKILL;
  });
}

EffectReport launcher_ended(const Action& action, const GateEvent& gate, const RunFacts& facts) {
  if (const auto ended = effect_line(action, facts, "launcher_ended"))
    return verified(fmt::format("the launcher of rank {} ended by SIGKILL", gate.rank), acted_at(gate),
                    {ended.n});
  auto other = effect_line(action, facts, "launcher_lives");
  if (!other) other = effect_line(action, facts, "launcher_ended_otherwise");
  if (!other) return cannot_tell(fmt::format("rankfault did not see the launcher of rank {} end", gate.rank));
  return not_bitten(fmt::format("the launcher of rank {} did not end by SIGKILL", gate.rank), {other.n});
}

}  // namespace rankfault
