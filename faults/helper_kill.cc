// helper_kill: kills a helper process of a rank while the rank waits at the gate.
#include <fmt/format.h>
#include <signal.h>

#include "faults/effect.h"
#include "faults/lowering.h"

namespace rankfault {
namespace {

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  if (Status ok = need_trigger(fault); !ok) return ok.error();
  const Value* given = fault.params.find("signal");
  const Result<int> signal = given ? read_signal(*given) : Result<int>(SIGKILL);
  if (!signal) return signal.error();
  if (*signal == SIGSTOP || *signal == SIGTSTP || *signal == SIGCONT || *signal == SIGCHLD)
    return usage_error(fmt::format("{} does not end a helper: use a signal that kills", signal_name(*signal)),
                       given->pos);
  const int64_t which = read_int(fault.params, "which", 1);
  if (which < 1) return usage_error("\"which\" must be at least 1", fault.params.find("which")->pos);
  const std::string name = read_text(fault.params, "name");
  return for_each_victim(fault, context, [&](Action& action) {
    action.verb = RF_VERB_OUTSIDE;
    action.outside = "signal_helper";
    action.signal = *signal;
    action.path = name.empty() ? "*" : name;
    action.size = which;
  });
}

EffectReport verify_one(const Action& action, const GateEvent& gate, const RunFacts& facts) {
  if (gate.effect != "done")
    return not_bitten(fmt::format("rank {} had no helper {} named {}", gate.rank, action.size, action.path));
  const std::string name = signal_name(action.signal);
  if (const auto line = effect_line(action, facts, "helper_ended"))
    return verified(fmt::format("a helper of rank {} ended by {}", gate.rank, name),
                    line->time.value_or(acted_at(gate)), {line.n});
  for (const char* what : {"helper_lives", "helper_ended_otherwise"})
    if (const auto line = effect_line(action, facts, what))
      return not_bitten(fmt::format("the helper of rank {} did not end by {}", gate.rank, name), {line.n});
  return cannot_tell(fmt::format("rankfault did not see the helper of rank {} end by {}", gate.rank, name));
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, verify_one);
}

const Registration<FaultKind> kRegistration{{
    .name = "helper_kill",
    .summary =
        "Kills a helper process of the victim by a signal (SIGKILL) while the victim waits at the trigger.",
    .stands_for = "a DataLoader worker taken by the OOM killer, or ended by a bus error; a logger or a "
                  "compiler that died",
    .not_the_same =
        "a rank's own death: the rank lives, and notices the helper's death only if its code does",
    .verified_by = "the helper, a process that descends from the victim, ended by that signal",
    .example = "helper_kill@rank=1,op=all_reduce,nth=3,name=pt_data_worker*",
    .params = {{"name", ParamType::kText, false,
                "Which helpers, as a pattern of the kernel's name for the process (its first 15 bytes); any "
                "when not given."},
               {"which", ParamType::kInt, false, "Which of them, oldest first, from 1; 1 when not given."},
               {"signal", ParamType::kSignal, false, "Which signal; SIGKILL when not given."}},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
