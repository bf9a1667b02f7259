// shm_chmod: removes the permissions of a segment of the job while the victim waits at the gate.
#include <errno.h>
#include <fmt/format.h>

#include "faults/lowering.h"
#include "faults/shm_effect.h"
#include "faults/shm_segments.h"

namespace rankfault {
namespace {

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  if (Status ok = need_trigger(fault); !ok) return ok.error();
  return harm_segments(fault, context, "chmod");
}

// If no process was refused, there are two reasons: none attached, or those that did may override the mode.
EffectReport verify_one(const Action& action, const GateEvent& gate, const RunFacts& facts) {
  if (gate.effect != "done") return not_bitten(fmt::format("no segment of this job matched {}", action.path));
  if (const auto failed = failed_attach(facts, action, gate.asked, {EACCES, EPERM}))
    return verified(fmt::format("rank {} was not allowed to open {} afterwards", failed->rank, failed->path),
                    failed->time);
  if (const auto opened = failed_attach(facts, action, gate.asked, {0}))
    return not_bitten(fmt::format(
        "rank {} opened {} anyway: a mode does not stop a process that may override it, such as root's",
        opened->rank, opened->path));
  return not_bitten("no process attached to it afterwards");
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, verify_one);
}

const Registration<FaultKind> kRegistration{{
    .name = "shm_chmod",
    .summary = "Removes all permissions of one of the job's own shared-memory segments while the victim "
               "waits at the trigger.",
    .stands_for =
        "a segment made by another user or under a strict umask; a hardening script that closes /dev/shm",
    .not_the_same = "lost memory: a process that has mapped the segment keeps it. A mode does not stop a "
                    "process that may override it (root), so the run is void there",
    .verified_by = "a later attach of that path fails with EACCES",
    .example = "shm_chmod@rank=1,file_op=shm_attach,path=/dev/shm/vader_segment.*",
    .params = {segments_parameter()},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
