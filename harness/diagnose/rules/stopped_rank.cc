// stopped_rank: a process is stopped (state T). It may be continued at any time: never proven.
#include <fmt/format.h>

#include "harness/diagnose/rule.h"
#include "harness/diagnose/waits.h"
#include "harness/diagnose/words.h"

namespace rankfault {
namespace {

std::vector<Finding> look(const JobView& job, const DiagnoseOptions&) {
  std::vector<Finding> found;
  const std::vector<Edge> waits = waits_now(job);
  for (const auto& p : job.processes()) {
    if (p->ended() || !p->view->stopped || job.rank(p->rank()) != p.get()) continue;
    Finding f;
    f.kind = "stopped_rank";
    f.ranks = {p->rank()};
    const std::vector<Edge> edges = waiting_for(waits, *p);
    tell_waiters(f, job, edges);
    f.at = job.timeline().look;
    for (const LaneView& l : p->view->lanes)  // it cannot have been stopped before its last record
      if (f.at == job.timeline().look || l.state.since_ns > f.at) f.at = l.state.since_ns;
    f.text = fmt::format(
        "rank {} is stopped (state T){}", p->rank(),
        edges.empty() ? "" : fmt::format("; others wait for it in {} {} on {}", f.op, f.seq->from, f.comm));
    found.push_back(std::move(f));
  }
  return found;
}

const Registration<Rule> kRule{{"stopped_rank", "a process is stopped and may be continued", look}};

}  // namespace
}  // namespace rankfault
