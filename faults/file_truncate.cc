// file_truncate: truncates a file that the job wrote (a checkpoint) while the victim waits at the gate.
#include <fmt/format.h>

#include "faults/file_effect.h"

namespace rankfault {
namespace {

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  const int64_t size = read_int(fault.params, "size", 0);
  if (size < 0) return usage_error("\"size\" must be at least 0", fault.params.find("size")->pos);
  return harm_file(fault, context, [&](Action& action) {
    action.outside = "truncate";
    action.size = size;
  });
}

EffectReport verify_one(const Action& action, const GateEvent& gate, const RunFacts& facts) {
  if (gate.effect != "done") return not_bitten(fmt::format("no file of this job matched {}", action.path));
  return read_afterwards(facts, action, "after the truncation", "no process read the truncated file");
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, verify_one);
}

const Registration<FaultKind> kRegistration{{
    .name = "file_truncate",
    .summary = "Truncates one of the job's own files to a size while the victim waits at the trigger.",
    .stands_for =
        "a checkpoint whose writer was killed, whose disk was full, or that lost its end in a power failure",
    .not_the_same = "a failing write: the writer saw success",
    .verified_by = "a process of the job opens that very file for reading, before any process empties it",
    .example = "file_truncate@rank=0,step=20,op=all_reduce,path=checkpoints/ckpt-*.bin,size=100",
    .params = {{"path", ParamType::kText, false,
                "Which files, as a pattern of names below the job's TMPDIR; the trigger's path when not "
                "given. Only what the job made there is touched, never through a symbolic link."},
               {"size", ParamType::kInt, false, "The new size in bytes; 0 when not given."}},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
