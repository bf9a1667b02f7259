// rank_kill: kills a process of the job from outside while it waits at the gate.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "faults/effect.h"
#include "faults/lowering.h"

namespace rankfault {
namespace {

Result<int> signal_of(const FaultSpec& fault) {
  const Value* value = fault.params.find("signal");
  return value ? read_signal(*value) : Result<int>(SIGKILL);
}

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  if (Status ok = need_trigger(fault); !ok) return ok.error();
  Result<int> signal = signal_of(fault);
  if (!signal) return signal.error();
  if (*signal == SIGSTOP || *signal == SIGTSTP || *signal == SIGCONT || *signal == SIGCHLD)
    return usage_error(
        fmt::format("{} does not end a rank: use rank_stop, or a signal that kills", signal_name(*signal)),
        fault.params.find("signal")->pos);
  return for_each_victim(fault, context, [&](Action& action) {
    action.verb = RF_VERB_OUTSIDE;
    action.outside = "signal";
    action.signal = *signal;
  });
}

EffectReport verify_one(const Action& action, const GateEvent& gate, const RunFacts& facts) {
  const std::string name = signal_name(action.signal);
  const RankEnd* end = end_of(gate, facts);
  if (!end) return not_bitten(fmt::format("rank {} outlived {}", gate.rank, name));
  if (end->status.kind == ExitStatus::Kind::kUnknown)
    return cannot_tell(fmt::format("rank {} ended after {}, but its status is unknown", gate.rank, name));
  if (end->status.kind != ExitStatus::Kind::kSignal || end->status.value != action.signal)
    return not_bitten(fmt::format("rank {} did not end by {}", gate.rank, name));
  const Instant answered = is_known(gate.answered) ? gate.answered : gate.asked;
  const double ms = std::chrono::duration<double, std::milli>(lasted(answered, end->time)).count();
  return verified(fmt::format("rank {} ended by {} {:.1f} ms after the gate answered", gate.rank, name, ms),
                  std::min(acted_at(gate), end->time));
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, verify_one);
}

const Registration<FaultKind> kRegistration{{
    .name = "rank_kill",
    .summary = "Kills the victim by a signal (SIGKILL) while it waits at the trigger.",
    .stands_for = "the OOM killer, a scheduler that ends one task, an operator's kill -9, a crashed node "
                  "seen from its peers",
    .not_the_same = "power loss or a cut network: the kernel still closes the dead process's sockets, and "
                    "written files stay written",
    .verified_by = "the victim's end is that signal",
    .example = "rank_kill@rank=2,op=all_reduce,nth=3",
    .ends_ranks = true,
    .params = {{"signal", ParamType::kSignal, false, "Which signal; SIGKILL when not given."}},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
