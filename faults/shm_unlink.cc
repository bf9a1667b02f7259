// shm_unlink: removes the name of a shared-memory segment of the job while the victim waits at the gate.
#include <errno.h>
#include <fmt/format.h>

#include "faults/lowering.h"
#include "faults/shm_effect.h"
#include "faults/shm_segments.h"

namespace rankfault {
namespace {

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  if (Status ok = need_trigger(fault); !ok) return ok.error();
  return harm_segments(fault, context, "unlink");
}

// A removed name alone is not an effect: after the last attach, the segment works as before.
EffectReport verify_one(const Action& action, const GateEvent& gate, const RunFacts& facts) {
  if (gate.effect != "done") return not_bitten(fmt::format("no segment of this job matched {}", action.path));
  if (const auto failed = failed_attach(facts, action, gate.asked, {ENOENT}))
    return verified(fmt::format("rank {} could not attach {} afterwards: No such file or directory",
                                failed->rank, failed->path),
                    failed->time);
  return not_bitten("no process attached to it afterwards");
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, verify_one);
}

const Registration<FaultKind> kRegistration{{
    .name = "shm_unlink",
    .summary = "Removes the name of one of the job's own shared-memory segments while the victim waits at "
               "the trigger.",
    .stands_for = "a clean-up script or a neighbour's rm in /dev/shm between create and attach",
    .not_the_same = "lost memory: a process that has mapped the segment keeps it, so after the last attach "
                    "nothing happens (and the run is void)",
    .verified_by = "a later attach of that path fails with ENOENT",
    .example = "shm_unlink@rank=1,file_op=shm_attach,path=/dev/shm/vader_segment.*",
    .params = {segments_parameter()},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
