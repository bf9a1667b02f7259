// slow_rank: others wait for a rank that runs its own code. It is alive and may come, so the finding is never
// proven and never calls it hung.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/diagnose/rule.h"
#include "harness/diagnose/timing/straggler_ratio.h"
#include "harness/diagnose/waits/late_ranks.h"
#include "harness/diagnose/waits/late_to_join.h"

namespace rankfault {
namespace {

// Ranks that others wait for in the initialisation of a communicator of NCCL. PyTorch makes one at the first
// collective, where none of its limits applies.
std::vector<Finding> late_to_meetings(const JobView& job, const DiagnoseOptions& options) {
  std::vector<Finding> found;
  for (const Meeting& meeting : meetings(job)) {
    const auto late = meeting.numbered ? std::nullopt : late_to_join(job, meeting, options);
    if (!late || late->hung || !late->all_are_missing(meeting)) continue;  // init_stall reports a hang
    if (std::any_of(late->ranks.begin(), late->ranks.end(), [](const Process* p) { return p->ended(); }))
      continue;
    Finding f;
    f.kind = "slow_rank";
    describe_late_to_join(f, job, meeting, *late, options);
    f.text = fmt::format("{} while others wait in the initialisation of a communicator of NCCL, {}",
                         fmt::join(f.evidence, "; "), late->patience.text());
    found.push_back(std::move(f));
  }
  return found;
}

std::vector<Finding> look(const JobView& job, const DiagnoseOptions& options) {
  std::vector<Finding> found = late_to_meetings(job, options);
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
