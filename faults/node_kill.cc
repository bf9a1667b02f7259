// node_kill: kills a node of the job at once: the launcher program that started the victim, and all processes
// that it started.
#include <fmt/format.h>

#include "faults/launcher_effect.h"
#include "faults/lowering.h"

namespace rankfault {
namespace {

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  return lower_to_launcher(fault, context, "kill_node");
}

// The end of the launcher is not the end of the node: a rank of it could go on.
EffectReport verify_one(const Action& action, const GateEvent& gate, const RunFacts& facts) {
  EffectReport report = launcher_ended(action, gate, facts);
  if (report.effect != Effect::kVerified) return report;
  const RankEnd* end = end_of(gate, facts);
  if (!end) return not_bitten(fmt::format("rank {} outlived its node", gate.rank));
  if (end->status.kind == ExitStatus::Kind::kUnknown)
    return cannot_tell(fmt::format("rank {} ended with its node, but its status is unknown", gate.rank));
  if (end->status.kind != ExitStatus::Kind::kSignal || end->status.value != action.signal)
    return not_bitten(fmt::format("rank {} did not end by SIGKILL", gate.rank));
  report.how += fmt::format(", and rank {} with it", gate.rank);
  return report;
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, verify_one);
}

const Registration<FaultKind> kRegistration{{
    .name = "node_kill",
    .summary = "Kills the launcher program that started the victim, and everything it started, while the "
               "victim waits at the trigger.",
    .stands_for = "a host that fails: its torchrun and all its ranks end at once",
    .not_the_same =
        "power loss or a cut network: the kernel still closes the sockets, so the other nodes see it at once",
    .verified_by = "that launcher program and the victim ended by SIGKILL",
    .example = "node_kill@rank=1,op=all_reduce,nth=3",
    .ends_ranks = true,
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
