// rank_signal: the victim's own thread raises a signal at a known point.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "faults/effect.h"
#include "faults/lowering.h"

namespace rankfault {
namespace {

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  if (Status ok = need_trigger(fault); !ok) return ok.error();
  const Value* written = fault.params.find("signal");
  RF_ASSERT(written != nullptr, "check_params asks for it");
  Result<int> signal = read_signal(*written);
  if (!signal) return signal.error();
  if (*signal == SIGKILL || *signal == SIGSTOP || *signal == SIGCONT)
    return usage_error(fmt::format("rank_signal does not raise {}: use {}", signal_name(*signal),
                                   *signal == SIGKILL ? "rank_kill" : "rank_stop"),
                       written->pos);
  return for_each_victim(fault, context, [&](Action& action) {
    action.verb = RF_VERB_RAISE;
    action.signal = *signal;
  });
}

// A handled signal leaves no trace of its own. Then the end of the rank must show it, or the scenario must
// say that the program handles it.
EffectReport verify_one(const Action& action, const GateEvent& gate, const RunFacts& facts, bool handled) {
  const std::string name = signal_name(action.signal);
  const RankEnd* end = end_of(gate, facts);
  if (end && end->status.kind == ExitStatus::Kind::kSignal && end->status.value == action.signal)
    return verified(fmt::format("rank {} ended by {}", gate.rank, name), std::min(acted_at(gate), end->time));
  if (handled && gate.effect == "done")
    return verified(fmt::format("{} was raised in rank {}, which handles it", name, gate.rank),
                    acted_at(gate));
  if (end && end->status.kind == ExitStatus::Kind::kUnknown)
    return cannot_tell(fmt::format("rank {} ended after {}, but its status is unknown", gate.rank, name));
  if (end && end->status.nonzero())
    return verified(fmt::format("rank {} handled {} and ended non-zero", gate.rank, name), acted_at(gate));
  return not_bitten(
      fmt::format("rank {} continued after {}: nothing shows that it noticed the signal", gate.rank, name));
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  const bool handled = read_bool(fault.params, "handled", false);
  return verify_each(fault, facts, [&](const Action& action, const GateEvent& gate, const RunFacts& all) {
    return verify_one(action, gate, all, handled);
  });
}

const Registration<FaultKind> kRegistration{{
    .name = "rank_signal",
    .summary = "The victim's own thread raises a signal at the trigger.",
    .stands_for = "a crash inside the program (SIGSEGV, SIGABRT, SIGBUS, SIGFPE), or a scheduler's polite "
                  "notice (SIGTERM, SIGUSR1)",
    .not_the_same = "a wild memory access: no memory is damaged before the signal, and si_addr means nothing",
    .verified_by =
        "the victim's end is that signal or a non-zero exit; with handled: true, that the signal was raised",
    .example = "rank_signal@rank=1,op=all_reduce,nth=5,signal=SEGV",
    .ends_ranks = true,
    .params = {{"signal", ParamType::kSignal, true, "Which signal, such as SEGV, SIGTERM or 15."},
               {"handled", ParamType::kBool, false,
                "The program handles it and may continue; false when not given."}},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
