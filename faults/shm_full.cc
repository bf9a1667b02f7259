// shm_full: the job runs with a /dev/shm of its own that is too small. The host's is not touched.
//
// It has no gate: the guardian mounts the file system, in its own mount name space, before it starts the job.
#include <fmt/format.h>

#include <algorithm>

#include "faults/small_folder.h"

namespace rankfault {
namespace {

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  Result<Action> mount = mount_small_folder(fault, context, kShmFolder);
  if (!mount) return mount.error();
  return std::vector<Action>{std::move(*mount)};
}

// A small /dev/shm alone is not an effect: a rank must have failed, or the job must have hung.
bool ended_badly(const RankEnd& end) {
  return end.status.kind != ExitStatus::Kind::kUnknown && !end.status.zero();
}

// Whether the rank also ends badly in the reference run, where /dev/shm has room.
bool ends_so_without_it(const RankEnd& end, const RunFacts& facts) {
  return facts.reference &&
         std::any_of(facts.reference->ends.begin(), facts.reference->ends.end(),
                     [&](const RankEnd& r) { return r.rank == end.rank && ended_badly(r); });
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  const auto mounted = mounted_line(facts, fault.id);
  if (!mounted) return {Effect::kNotFired, "no /dev/shm was mounted for the job", {}, {}};
  const Instant at = mounted.t;
  const int64_t bytes = mounted->bytes;
  const Action* other = nullptr;
  for (const RankEnd& end : facts.ends) {
    if (!ended_badly(end) || ends_so_without_it(end, facts)) continue;
    other = another_fault(fault.id, facts, end.attempt, end.time);
    if (!other)
      return verified(fmt::format("rank {} failed in a /dev/shm of {} bytes", end.rank, bytes), at,
                      {mounted.n});
  }
  if (facts.teardown_reason == "wall" && !(facts.reference && facts.reference->teardown_reason == "wall")) {
    other = another_fault(fault.id, facts, std::nullopt, kEndOfTime);
    if (!other)
      return verified(fmt::format("the job did not end in time in a /dev/shm of {} bytes", bytes), at,
                      {mounted.n});
  }
  if (other)
    return cannot_tell(fmt::format("fault \"{}\" may have caused the job's trouble", other->fault),
                       {mounted.n});
  return not_bitten(fmt::format("{} bytes of /dev/shm were enough", bytes), {mounted.n});
}

const Registration<FaultKind> kRegistration{{
    .name = "shm_full",
    .summary = "The job has a separate /dev/shm of a few pages, in a mount namespace (needs root; otherwise "
               "skipped).",
    .stands_for =
        "the 64 MiB that a container gets by default, a /dev/shm filled by a neighbour or by leftovers",
    .not_the_same = "a /dev/shm that fills while the job runs: this one is too small from the start",
    .verified_by = "a rank that does not exit 0, or a job that does not end in time; not where the reference "
                   "run shows the same, nor after another fault",
    .example = "shm_full@ranks=all,size=65536",
    .params = {{"size", ParamType::kInt, false, "Its size in bytes; 65536 when not given."}},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
