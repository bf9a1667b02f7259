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

size_t living_members(const JobView& job) {
  return static_cast<size_t>(std::count_if(job.processes().begin(), job.processes().end(),
                                           [](const auto& p) { return p->member() && !p->ended(); }));
}

// Who waits in initialisation, since when, and how many it takes; 0: not known.
struct Wait {
  std::vector<int> ranks;
  TimeNs since = ~TimeNs{0};
  bool of_nccl = false;
  uint64_t members = 0;

  void add(int rank, const Call& call) {
    ranks.push_back(rank);
    since = std::min(since, call.entered);
    if (of_nccl) members = std::max(members, call.count());
  }
};

Wait waits(const JobView& job) {
  Wait out;
  for (const auto& p : job.processes())
    if (const Call* c = p->ended() ? nullptr : open_init(*p)) out.add(p->rank(), *c);
  if (!out.ranks.empty()) return out;
  out.of_nccl = true;
  for (const Joining& j : joining_nccl(job)) out.add(j.process->rank(), *j.call);
  return out;
}

// A communicator of NCCL may be of a part of the ranks. It needs one that has left, or was a member before,
// only where it is for more than live; else only those may be awaited that never came at all.
bool is_absent(const Process* p, bool surely_missing) {
  if (!p || !p->member()) return true;
  return p->ended() && surely_missing;
}

std::vector<Finding> look(const JobView& job, const DiagnoseOptions& options) {
  const Wait wait = waits(job);
  const TimeNs now = job.timeline().look;
  if (wait.ranks.empty() || lasted(wait.since, now) <= options.slow_after) return {};
  const bool surely_missing = !wait.of_nccl || wait.members > living_members(job);
  bool all_may_come = true;
  std::vector<int> absent;
  std::string reasons;
  Finding f;
  for (const ExpectedRank& e : job.timeline().expected) {
    if (e.attempt != job.attempt() || !is_absent(job.rank(e.rank), surely_missing)) continue;
    absent.push_back(e.rank);
    all_may_come = all_may_come && (!surely_missing || may_come(job, e));
    f.evidence.push_back(fmt::format("rank {} {}", e.rank, why_absent(job, e)));
    reasons += fmt::format("{}rank {} {}", reasons.empty() ? "" : "; ", e.rank, why_absent(job, e));
  }
  if (absent.empty() || (all_may_come && lasted(wait.since, now) <= options.hung_after)) return {};
  f.kind = "init_stall";
  f.attempt = job.attempt();
  f.ranks = sorted_unique(absent);
  f.op = op_text(wait.of_nccl ? RF_OP_COMM_CREATE : RF_OP_INIT);
  f.sides = {{sorted_unique(wait.ranks), f.op, f.op, ""}, {f.ranks, "", "no call", ""}};
  f.at = wait.since;
  f.text =
      fmt::format("{} in {}: {}", wait.ranks.size() == 1 ? "a rank waits" : "ranks wait",
                  wait.of_nccl ? "the initialisation of a communicator of NCCL" : "initialisation", reasons);
  return {f};
}

const Registration<Rule> kRule{
    {"init_stall", "ranks wait in initialisation for ranks that have not joined", look}};

}  // namespace
}  // namespace rankfault
