// slow_rank: others wait for a rank that runs its own code. It is alive and may come: never proven,
// and never called hung.
#include <fmt/format.h>

#include "harness/diagnose/late.h"
#include "harness/diagnose/pace.h"
#include "harness/diagnose/rule.h"
#include "harness/diagnose/words.h"

namespace rankfault {
namespace {

std::vector<Finding> look(const JobView& job, const DiagnoseOptions& options) {
  std::vector<Finding> found;
  for (const Late& late : late_ranks(job, options)) {
    if (late.why == Late::Why::kAsleep) continue;  // stuck_outside
    Finding f;
    const bool waits = late.why == Late::Why::kWaits;  // then it is no more to blame than the others
    f.kind = waits && late.hung ? "wedged" : "slow_rank";
    if (!waits) f.ranks = {late.process->rank()};
    tell_waiters(f, job, late.edges);
    f.at = late.edges.front().call->entered;
    f.text = fmt::format("rank {} {} while others wait for it in {}, {}{}", late.process->rank(),
                         where_it_is(late), short_call(*late.edges.front().call, *late.edges.front().group),
                         late.patience.told(), pace_told(*late.edges.front().group, *late.process));
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
}};

}  // namespace
}  // namespace rankfault
