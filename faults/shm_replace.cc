// shm_replace: replaces a segment of the job, before the victim attaches to it, by another file of that size.
#include <fmt/format.h>

#include "faults/shm_effect.h"
#include "faults/shm_segments.h"

namespace rankfault {
namespace {

Status check_point(const FaultSpec& fault) {
  if (fault.at.file_op == "shm_attach" && fault.at.edge != Edge::kAfter) return Done{};
  return usage_error(
      "shm_replace fires before the victim attaches: write \"file_op\" shm_attach, without \"edge\"",
      fault.pos);
}

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  if (Status ok = check_point(fault); !ok) return ok.error();
  constexpr int64_t kOfTheOneThere = -1;
  return harm_segments(fault, context, "leave_stale", kOfTheOneThere);
}

EffectReport verify_one(const Action& action, const GateEvent& gate, const RunFacts& facts) {
  if (gate.effect != "done") return not_bitten(fmt::format("no segment of this job matched {}", action.path));
  if (const auto opened = failed_attach(facts, action, gate.asked, {0}))
    return verified(fmt::format("rank {} opened the file that replaced {}", opened->rank, opened->path),
                    opened->time);
  return not_bitten("no process attached to it afterwards");
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, verify_one);
}

const Registration<FaultKind> kRegistration{{
    .name = "shm_replace",
    .summary = "Another file of the same size, full of zeros, takes the name of the segment that the victim "
               "attaches to.",
    .stands_for = "a second job under the same name that cleaned up before it began; a segment that a "
                  "restarted rank made again while its peer was about to attach to the old one",
    .not_the_same = "changed content: a process that has mapped the old segment keeps it, whole, and does "
                    "not share it with processes that attach later",
    .verified_by = "a later attach of that path succeeds",
    .example = "shm_replace@rank=1,file_op=shm_attach,path=/dev/shm/nccl-*",
    .params = {segments_parameter()},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
