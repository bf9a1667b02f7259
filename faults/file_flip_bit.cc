// file_flip_bit: flips one bit of a file that the job wrote while the victim waits at the gate.
#include <fmt/format.h>

#include "faults/file_effect.h"

namespace rankfault {
namespace {

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  const int64_t bit = read_int(fault.params, "bit", 0);
  if (bit < 0 || bit > 7) return usage_error("\"bit\" must be 0 to 7", fault.params.find("bit")->pos);
  return harm_file(fault, context, [&](Action& action) {
    action.outside = "flip_bit";
    action.size = read_int(fault.params, "offset", -1);
    action.mode = static_cast<int>(bit);
  });
}

EffectReport verify_one(const Action& action, const GateEvent& gate, const RunFacts& facts) {
  if (gate.effect != "done") return not_bitten(fmt::format("no file of this job matched {}", action.path));
  return read_afterwards(facts, action, "with the flipped bit in it", "no process read the flipped bit");
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, verify_one);
}

const Registration<FaultKind> kRegistration{{
    .name = "file_flip_bit",
    .summary = "Flips one bit of one of the job's own files while the victim waits at the trigger.",
    .stands_for = "a checkpoint that rotted on its disk or was damaged on its way there",
    .not_the_same = "a disk that reports an error: the reads succeed, and the data is wrong",
    .verified_by = "a process of the job opens that very file for reading, before any process empties it",
    .example = "file_flip_bit@rank=0,step=20,op=all_reduce,path=checkpoints/ckpt-*.bin,offset=100,bit=3",
    .params = {{"path", ParamType::kText, false,
                "Which files, as a pattern of names below the job's TMPDIR; the trigger's path when not "
                "given. Only what the job made there is touched, never through a symbolic link."},
               {"offset", ParamType::kInt, false,
                "The offset of the byte; negative counts from the end; -1 when not given."},
               {"bit", ParamType::kInt, false, "Which bit of the byte, 0 to 7; 0 when not given."}},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
