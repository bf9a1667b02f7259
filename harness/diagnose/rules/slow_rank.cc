// slow_rank: others wait for a rank that runs its own code. It is alive and may come, so the finding is never
// proven and never calls it hung.
#include "harness/diagnose/rule.h"
#include "harness/diagnose/timing/straggler_ratio.h"
#include "harness/diagnose/waits/late_ranks.h"

namespace rankfault {
namespace {

std::vector<Finding> look(const JobView& job, const DiagnoseOptions& options) {
  std::vector<Finding> found;
  for (const LateRank& late : late_ranks(job, options)) {
    if (late.hung) continue;  // stuck_outside or wedged reports it
    Finding f = late_finding(job, late, "slow_rank");
    f.text += straggler_text(*late.edges.front().group, *late.process);
    found.push_back(std::move(f));
  }
  return found;
}

const Registration<Rule> kRule{{
    .name = "slow_rank",
    .summary = "others wait for a rank that is alive and running",
    .look = look,
    .proof = "Never proven: the rank may come.",
    .example = "rank 2 runs outside any call while others wait for it in barrier 4 on world",
    .next = "Read the stack and the Python frames of the rank in the evidence. Raise `--after` if such a "
            "wait is normal for this job.",
    .traits = {.rank_may_come = true},
}};

}  // namespace
}  // namespace rankfault
