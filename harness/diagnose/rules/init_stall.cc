// init_stall: ranks wait in initialisation for ranks that have not joined: never started, started and
// stuck before it, or dead before it. NCCL's initialisation is that of a communicator, of whose members only
// the launcher knows more.
#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnose/joining.h"
#include "harness/diagnose/patience.h"
#include "harness/diagnose/rule.h"
#include "harness/diagnose/words.h"

namespace rankfault {
namespace {

std::string why_absent(const JobView& job, const ExpectedRank& expected) {
  const Process* p = job.rank(expected.rank);
  if (!p) return expected.started ? "was started and left no record" : "was never started";
  if (p->ended()) return fmt::format("{} before it joined", end_text(p->view->end));
  return "was started and has not reached initialisation";
}

// As far as one can see it is on its way: a rank may be long at loading its program.
bool may_come(const JobView& job, const ExpectedRank& expected) {
  const Process* p = job.rank(expected.rank);
  return !p || !p->ended();
}

const Call* open_init(const Process& p) {
  for (const Call* c : p.all_inside())
    if (c->op() == RF_OP_INIT) return c;
  return nullptr;
}

std::vector<Finding> look(const JobView& job, const DiagnoseOptions& options) {
  std::vector<int> waiting, absent;
  std::string reasons;
  TimeNs since = ~TimeNs{0};
  for (const auto& p : job.processes())
    if (const Call* c = p->ended() ? nullptr : open_init(*p)) {
      waiting.push_back(p->rank());
      since = std::min(since, c->entered);
    }
  const bool in_init = !waiting.empty();
  if (!in_init)
    for (const Joining& j : joining_nccl(job)) {
      waiting.push_back(j.process->rank());
      since = std::min(since, j.call->entered);
    }
  const TimeNs now = job.timeline().look;
  if (waiting.empty() || lasted(since, now) <= options.slow_after) return {};
  bool all_may_come = true;
  Finding f;
  for (const ExpectedRank& e : job.timeline().expected) {
    if (e.attempt != job.attempt()) continue;
    const Process* p = job.rank(e.rank);
    if (p && p->member() && !p->ended()) continue;
    absent.push_back(e.rank);
    all_may_come = all_may_come && may_come(job, e);
    f.evidence.push_back(fmt::format("rank {} {}", e.rank, why_absent(job, e)));
    reasons += fmt::format("{}rank {} {}", reasons.empty() ? "" : "; ", e.rank, why_absent(job, e));
  }
  if (absent.empty() || (all_may_come && lasted(since, now) <= options.hung_after)) return {};
  f.kind = "init_stall";
  f.attempt = job.attempt();
  f.ranks = sorted_unique(absent);
  f.op = op_text(in_init ? RF_OP_INIT : RF_OP_COMM_CREATE);
  f.sides = {{sorted_unique(waiting), f.op, f.op, ""}, {f.ranks, "", "no call", ""}};
  f.at = since;
  f.text = fmt::format("{} in {}: {}", waiting.size() == 1 ? "a rank waits" : "ranks wait",
                       in_init ? "initialisation" : "the initialisation of a communicator of NCCL", reasons);
  return {f};
}

const Registration<Rule> kRule{
    {"init_stall", "ranks wait in initialisation for ranks that have not joined", look}};

}  // namespace
}  // namespace rankfault
