// shm_truncate: truncates a shared-memory segment of the job while the victim waits at the gate.
#include <errno.h>
#include <fmt/format.h>
#include <signal.h>

#include "faults/lowering.h"
#include "faults/shm_effect.h"
#include "faults/shm_segments.h"

namespace rankfault {
namespace {

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  if (Status ok = need_trigger(fault); !ok) return ok.error();
  const int64_t size = read_int(fault.params, "size", 0);
  if (size < 0) return usage_error("\"size\" must be at least 0", fault.params.find("size")->pos);
  return harm_segments(fault, context, "truncate", size);
}

EffectReport verify_one(const Action& action, const GateEvent& gate, const RunFacts& facts) {
  if (gate.effect != "done") return not_bitten(fmt::format("no segment of this job matched {}", action.path));
  for (const RankEnd& end : facts.ends)
    if (end.attempt == gate.attempt && end.time >= gate.asked &&
        end.status.kind == ExitStatus::Kind::kSignal && end.status.value == SIGBUS)
      return verified(fmt::format("rank {} ended by SIGBUS after the truncation", end.rank), end.time);
  if (const auto failed = failed_attach(facts, action, gate.asked, {EINVAL, ENXIO, EIO}))
    return verified(fmt::format("rank {} could not map {} afterwards", failed->rank, failed->path),
                    failed->time);
  return not_bitten("no process touched the part that was cut off");
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, verify_one);
}

const Registration<FaultKind> kRegistration{{
    .name = "shm_truncate",
    .summary = "Truncates one of the job's own shared-memory segments to a size while the victim waits at "
               "the trigger.",
    .stands_for = "a segment left half-made by a crashed creator; a file system that lost its pages",
    .not_the_same = "a full /dev/shm: there the creator's own call fails",
    .verified_by = "a process of the job ends by SIGBUS, or fails to map the segment",
    .example = "shm_truncate@rank=1,op=all_reduce,nth=2,path=/dev/shm/vader_segment.*,size=0",
    .params = {segments_parameter(),
               {"size", ParamType::kInt, false, "The new size in bytes; 0 when not given."}},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
