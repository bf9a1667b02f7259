// stopped_rank: a process is stopped (state T). It may be continued at any time, so the finding is never
// proven. A stop that has not yet harmed another rank is not reported.
#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnose/model/words.h"
#include "harness/diagnose/rule.h"
#include "harness/diagnose/timing/wait_thresholds.h"
#include "harness/diagnose/waits/ended.h"

namespace rankfault {
namespace {

// Whether a rank gave up waiting for it or has waited for longer than is usual, or whether it has not moved
// for so long that its job would be called hung.
bool hurts(const JobView& job, const Process& p, const UnmetNeed& u, const DiagnoseOptions& options) {
  const Instant look = job.timeline().look;
  Instant moved;
  for (const LaneView& l : p.view->lanes) moved = std::max(moved, instant_of(l.state.since_ns));
  if (lasted(moved, look) > options.hung_after) return true;
  return std::any_of(u.edges.begin(), u.edges.end(), [&](const WaitEdge& e) {
    if (e.call->status == Call::Status::kFailed) return true;
    const Duration waited = lasted(waits_since(e), look);
    return waited > options.slow_after &&
           waited > patience_with_absence(job, *e.group, e, options.slow_after).limit;
  });
}

std::vector<Finding> look(const JobView& job, const DiagnoseOptions& options) {
  std::vector<Finding> found;
  for (const auto& p : job.processes()) {
    if (p->ended() || !p->view->stopped || job.rank(p->rank()) != p.get()) continue;
    const UnmetNeed u = unmet_needs(job, *p);
    if (!hurts(job, *p, u, options)) continue;
    Finding f;
    f.kind = "stopped_rank";
    f.ranks = {p->rank()};
    f.attempt = job.attempt();
    f.evidence = {fmt::format("rank {} is in state T", p->rank())};
    if (u.group) describe_unmet(f, u);
    for (const LaneView& l : p->view->lanes)  // not stopped before that
      set_time(f, *p, std::max(f.at, instant_of(l.state.since_ns)));
    f.text = fmt::format("rank {} is stopped (state T)", p->rank());
    if (u.group) f.text += fmt::format("; others need it in {}", short_call(*u.edges.front().call, *u.group));
    found.push_back(std::move(f));
  }
  return found;
}

const Registration<Rule> kRule{{
    .name = "stopped_rank",
    .summary = "a process is stopped",
    .look = look,
    .proof = "Never proven: a SIGCONT may continue the process.",
    .example = "rank 1 is stopped (state T) while ranks 0 2 3 wait for it",
    .next = "Look for a debugger, a suspended shell job or a scheduler that suspends jobs. `kill -CONT PID` "
            "continues it.",
    .traits = {.precedence = 90, .rank_may_come = true},
}};

}  // namespace
}  // namespace rankfault
