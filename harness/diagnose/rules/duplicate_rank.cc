// duplicate_rank: two processes that are alive at the same time have announced the same rank.
#include <fmt/format.h>

#include <map>

#include "harness/diagnose/model/words.h"
#include "harness/diagnose/rule.h"

namespace rankfault {
namespace {

bool overlap(const ProcessView& a, const ProcessView& b) {
  const auto over_before = [](const ProcessView& first, const ProcessView& then) {
    return first.end.kind == EndKind::kEnded && !certainly_before(then, then.member, first, first.end.time);
  };
  return !over_before(a, b) && !over_before(b, a);
}

// separate_worlds reports them, once for all.
bool are_alone(const JobView& job, const ProcessView& a, const ProcessView& b) {
  return a.world_size == 1 && b.world_size == 1 && job.timeline().world_size > 1;
}

std::vector<Finding> look(const JobView& job, const DiagnoseOptions&) {
  std::vector<Finding> found;
  const auto& all = job.processes();
  std::map<int, std::vector<size_t>> claims;  // by rank: the processes
  for (size_t i = 0; i < all.size(); ++i) claims[all[i]->rank()].push_back(i);
  for (size_t i = 0; i < all.size(); ++i)
    for (const size_t j : claims[all[i]->rank()]) {
      if (j <= i) continue;
      const Process &a = *all[i], &b = *all[j];
      if (!a.member() || !b.member() || a.helper() || b.helper() || !overlap(*a.view, *b.view)) continue;
      if (are_alone(job, *a.view, *b.view)) continue;
      Finding f;
      f.kind = "duplicate_rank";
      f.ranks = {a.rank()};
      f.attempt = job.attempt();
      f.at = std::max(a.view->member, b.view->member);
      f.evidence = {fmt::format("process {} announced rank {}", a.view->id.to_string(), a.rank()),
                    fmt::format("process {} announced rank {}", b.view->id.to_string(), b.rank())};
      f.text =
          fmt::format("processes {} and {} both announced rank {}", a.view->id.pid, b.view->id.pid, a.rank());
      found.push_back(std::move(f));
    }
  return found;
}

const Registration<Rule> kRule{{
    .name = "duplicate_rank",
    .summary = "two live processes announced the same rank",
    .look = look,
    .proof = "Never proven.",
    .example = "processes 811 and 812 both announced rank 1",
    .next = "Check how the ranks get their numbers. Look for a second job in the same environment, or for "
            "RANK set by hand.",
    .traits = {.precedence = 0},
}};

}  // namespace
}  // namespace rankfault
