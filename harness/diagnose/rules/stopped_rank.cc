// stopped_rank: a process is stopped (state T). It may be continued at any time: never proven.
#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnose/ended.h"
#include "harness/diagnose/rule.h"
#include "harness/diagnose/words.h"

namespace rankfault {
namespace {

std::vector<Finding> look(const JobView& job, const DiagnoseOptions&) {
  std::vector<Finding> found;
  for (const auto& p : job.processes()) {
    if (p->ended() || !p->view->stopped || job.rank(p->rank()) != p.get()) continue;
    Finding f;
    f.kind = "stopped_rank";
    f.ranks = {p->rank()};
    f.attempt = job.attempt();
    f.evidence = {fmt::format("rank {} is in state T", p->rank())};
    const Unmet u = unmet_needs(job, *p);
    if (u.group) tell_unmet(f, u);
    for (const LaneView& l : p->view->lanes)
      f.at = std::max(f.at, l.state.since_ns);  // not stopped before that
    f.text = fmt::format("rank {} is stopped (state T)", p->rank());
    if (u.group) f.text += fmt::format("; others need it in {}", short_call(*u.edges.front().call, *u.group));
    found.push_back(std::move(f));
  }
  return found;
}

const Registration<Rule> kRule{{"stopped_rank", "a process is stopped and may be continued", look}};

}  // namespace
}  // namespace rankfault
