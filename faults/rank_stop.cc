// rank_stop: all threads of the victim stop at a known point; after `for` they go on.
#include <fmt/format.h>
#include <signal.h>

#include "faults/effect.h"
#include "faults/lowering.h"

namespace rankfault {
namespace {

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  if (Status ok = need_trigger(fault); !ok) return ok.error();
  const std::optional<Duration> lasts = read_duration(fault.params, "for");
  std::vector<Action> out;
  for (Action& stop : for_each_victim(fault, context, [](Action& action) {
         action.verb = RF_VERB_RAISE;
         action.signal = SIGSTOP;
       })) {
    Action go_on = stop;
    out.push_back(std::move(stop));
    if (!lasts) continue;
    go_on.verb = RF_VERB_NONE;
    go_on.outside = "continue";
    go_on.signal = SIGCONT;
    go_on.delay = *lasts;
    go_on.after = static_cast<int32_t>(out.size()) - 1;
    out.push_back(std::move(go_on));
  }
  return out;
}

EffectReport verify_one(const Action& action, const GateEvent& gate, const RunFacts& facts) {
  if (const auto stopped = effect_line(action, facts, "stopped"))
    return verified(fmt::format("rank {} was seen stopped", gate.rank),
                    stopped->time.value_or(acted_at(gate)), {stopped.n});
  if (gate.effect == "done")
    return cannot_tell(
        fmt::format("rank {} stopped itself, but rankfault did not see it stopped", gate.rank));
  return not_bitten(fmt::format("rank {} did not stop", gate.rank));
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, verify_one);
}

const Registration<FaultKind> kRegistration{{
    .name = "rank_stop",
    .summary = "Stops the whole victim (SIGSTOP) at the trigger, for good or for a time.",
    .stands_for =
        "a process frozen by a debugger, by the cgroup freezer or by a hypervisor; a node that swaps",
    .not_the_same = "a slow rank: a stopped one does nothing at all, its watchdog threads included",
    .verified_by = "the kernel shows the victim in state T",
    .example = "rank_stop@rank=1,op=all_reduce,nth=5,for=2s",
    .params = {{"for", ParamType::kDuration, false,
                "How long it stays stopped; until the job's end when not given."}},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
