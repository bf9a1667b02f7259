// file_unlink: removes the name of a file that the job wrote while the victim waits at the gate.
#include <fmt/format.h>

#include "faults/file_effect.h"

namespace rankfault {
namespace {

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  return harm_file(fault, context, [](Action& action) { action.outside = "unlink"; });
}

// A removed file alone is not an effect: a process must try to open it.
EffectReport verify_one(const Action& action, const GateEvent& gate, const RunFacts& facts) {
  if (gate.effect != "done") return not_bitten(fmt::format("no file of this job matched {}", action.path));
  if (const auto missed = missed_afterwards(facts, action))
    return verified(fmt::format("rank {} looked for {} and did not find it", missed->rank, missed->path),
                    missed->time);
  return not_bitten("no process looked for it afterwards");
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, verify_one);
}

const Registration<FaultKind> kRegistration{{
    .name = "file_unlink",
    .summary = "Removes one of the job's own files while the victim waits at the trigger.",
    .stands_for = "a clean-up job, a retention rule or a second trainer that removes a checkpoint or a shard",
    .not_the_same = "lost data of an open file: a process that has the file open keeps it",
    .verified_by = "an open of that path by a process of the job fails with ENOENT, before any process makes "
                   "the file again",
    .example = "file_unlink@rank=0,file_op=open,path=checkpoints/ckpt-*.bin",
    .params = {{"path", ParamType::kText, false,
                "Which files, as a pattern of names below the job's TMPDIR; the trigger's path when not "
                "given. Only what the job made there is touched, never through a symbolic link."}},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
