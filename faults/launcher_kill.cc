// launcher_kill: kills the launcher program that started the victim, and nothing else. Its ranks lose their
// parent.
#include "faults/launcher_effect.h"
#include "faults/lowering.h"

namespace rankfault {
namespace {

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  return lower_to_launcher(fault, context, "kill_launcher");
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, launcher_ended);
}

const Registration<FaultKind> kRegistration{{
    .name = "launcher_kill",
    .summary = "Kills the launcher program that started the victim, and nothing else, while the victim waits "
               "at the trigger.",
    .stands_for =
        "a torchrun taken by the OOM killer; where it hosts the rendezvous store: the end of the store",
    .not_the_same = "the end of a node: the ranks stay alive, without their parent",
    .verified_by = "that launcher program ended by SIGKILL",
    .example = "launcher_kill@rank=0,op=all_reduce,nth=3",
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
