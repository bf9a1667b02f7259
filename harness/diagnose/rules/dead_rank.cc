// dead_rank: a signal ended a process, or it died for an unknown reason. Proven if others need a call that it
// never entered.
#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnose/model/words.h"
#include "harness/diagnose/proof/proof.h"
#include "harness/diagnose/rule.h"
#include "harness/diagnose/waits/ended.h"
#include "harness/diagnose/waits/ended_by_launcher.h"

namespace rankfault {
namespace {

constexpr const char* kWentOn = "; the program handled it: the others continued and exited with 0";

bool died(const Process& p) {
  return p.ended() && p.rank() >= 0 && (!p.view->end.status_known || p.view->end.by_signal);
}

Finding tell(const JobView& job, const Process& p, const LauncherEnds& launcher) {
  Finding f;
  f.kind = "dead_rank";
  f.ranks = {p.rank()};
  f.attempt = job.attempt();
  set_time(f, p, p.view->end.time);
  const std::string who = fmt::format("rank {} {}", p.rank(), end_text(p.view->end));
  f.handled = is_handled(job, p);
  if (const Process* first = launcher.first_before(p)) {
    f.assumes = {{"its_own_end", false, "the launcher ends all ranks after one fails"}};
    f.text = fmt::format("{} from the launcher, after rank {} {}", who, first->rank(),
                         aborted(*first) ? "called MPI_Abort" : end_text(first->view->end));
    f.evidence.insert(f.evidence.begin(), f.text);
    if (first->ended() && !certainly_before(*first->view, first->view->end.time, *p.view, f.at))
      set_time(f, *first, first->view->end.time + 1ns);
    return f;
  }
  if (aborted(p)) {  // the ranks that wait for it wait because of the abort
    f.assumes = {{"its_own_end", false, "it called MPI_Abort, and the launcher then ends the rank"}};
    f.text = fmt::format("rank {} called MPI_Abort and {}", p.rank(), end_text(p.view->end));
    f.evidence.insert(f.evidence.begin(), f.text);
    return f;
  }
  const UnmetNeed u = unmet_needs(job, p);
  if (!u.group) {
    f.text = who;
    describe_place_of_end(f, job, p);
    f.evidence.insert(f.evidence.begin(), f.text);
    f.text += f.handled ? kWentOn : "; rankfault saw no rank wait for it";
    return f;
  }
  describe_unmet(f, u);
  if (std::string why = launcher.why_unclear(p); !why.empty()) {
    f.assumes.push_back({"its_own_end", false, std::move(why)});
    only_infer(f);
  }
  std::vector<int> waiters;
  for (const WaitEdge& e : u.edges) waiters.push_back(e.waiter->world_rank);
  f.text = fmt::format("{} {}", who, unmet_need_text(u));
  f.text += f.handled ? kWentOn
                      : fmt::format("; {} cannot continue without it", ranks_text(sorted_unique(waiters)));
  return f;
}

std::vector<Finding> look(const JobView& job, const DiagnoseOptions&) {
  std::vector<Finding> found;
  const LauncherEnds launcher(job);
  for (const auto& p : job.processes())
    if (died(*p) && job.rank(p->rank()) == p.get()) {
      found.push_back(tell(job, *p, launcher));
      describe_reason_of_end(found.back(), *p);
    }
  return found;
}

const Registration<Rule> kRule{{
    .name = "dead_rank",
    .summary = "a signal ended a process that others need",
    .look = look,
    .proof =
        "The process is dead, others wait for a call that it never entered, and they waited before it died.",
    .example = "rank 2 was ended by SIGKILL and never entered all_reduce 98 on world; ranks 0 1 3 cannot "
               "continue without it",
    .next = "Find out who sent the signal: the kernel's log for SIGKILL (out of memory), a core file for "
            "SIGSEGV and SIGBUS, the scheduler for SIGTERM. \"From its launcher\" means that another "
            "rank failed first.",
    .traits = {.precedence = 20, .is_end = true},
}};

}  // namespace
}  // namespace rankfault
