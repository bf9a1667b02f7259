// shm_stale: makes a segment, like one left by an earlier job, under a name that the job is about to use.
//
// It makes the segment while the victim waits before the job's first use of the name: many names contain a
// number of the job and are not known earlier.
#include <errno.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "faults/shm_effect.h"
#include "faults/shm_segments.h"
#include "harness/scenario/op_names.h"

namespace rankfault {
namespace {

Status check_point(const FaultSpec& fault) {
  if (!fault.at.file_op.starts_with("shm_"))
    return usage_error(
        "shm_stale fires where the job first uses the name: write \"file_op\" shm_create, shm_attach or "
        "shm_unlink",
        fault.pos);
  if (fault.at.edge == Edge::kAfter)
    return usage_error(
        "shm_stale acts before the call, because after it the name is the job's own: leave \"edge\" out",
        fault.at.pos);
  return Done{};
}

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  if (Status ok = check_point(fault); !ok) return ok.error();
  const int64_t size = read_int(fault.params, "size", 4096), byte = read_int(fault.params, "byte", 0);
  if (size < 0) return usage_error("\"size\" must be at least 0", fault.params.find("size")->pos);
  if (byte < 0 || byte > 255) return usage_error("\"byte\" must be 0 to 255", fault.params.find("byte")->pos);
  return harm_segments(fault, context, "leave_stale", size, static_cast<int>(byte));
}

// The first process that uses the name would have met a real leftover: an earlier use makes the run void.
EffectReport verify_one(const Action& action, const GateEvent& gate, const RunFacts& facts) {
  if (gate.effect != "done") return not_bitten("no segment was made: the name was taken, or not known yet");
  if (const auto before = first_use(facts, action, gate.attempt, Instant{}, gate.asked))
    return not_bitten(fmt::format("rank {} had used {} before: a stale segment would not have stayed",
                                  before->rank, before->path));
  const auto met = first_use(facts, action, gate.attempt, gate.asked, kEndOfTime);
  if (!met || met->error == ENOENT) return not_bitten("no process used the name afterwards");
  return verified(fmt::format("rank {}'s {} of {} found the stale segment ({})", met->rank, op_text(met->op),
                              met->path, met->error ? strerrordesc_np(met->error) : "success"),
                  met->time);
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, verify_one);
}

const Registration<FaultKind> kRegistration{{
    .name = "shm_stale",
    .summary = "A segment with foreign content has a name in /dev/shm that the victim is about to use.",
    .stands_for =
        "a segment left by a job that crashed or was killed, found again by the next one under the same name",
    .not_the_same = "a live neighbour's segment: no process has this one open. Random names (mkstemp: NCCL, "
                    "Gloo, MPICH) cannot have a stale segment",
    .verified_by = "the job's first use of that name (create, attach or unlink) finds it",
    .example = "shm_stale@rank=0,file_op=shm_create,path=/dev/shm/cache*,size=4096,byte=1",
    .params = {{"path", ParamType::kText, false,
                "Which names, as a pattern below /dev/shm/; the trigger's path when not given. The victim's "
                "call gives the exact one."},
               {"size", ParamType::kInt, false, "Its size in bytes; 4096 when not given."},
               {"byte", ParamType::kInt, false, "The value of every byte, 0 to 255; 0 when not given."}},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
