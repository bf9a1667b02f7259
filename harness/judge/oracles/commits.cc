// commits: how many different steps each rank committed, over all attempts.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/judge/oracle_queries.h"

namespace rankfault {
namespace {

size_t committed(const RunFacts& facts, int rank) {
  std::set<int64_t> steps;
  for (const Mark& mark : facts.marks)
    if (mark.what == "step_commit" && mark.rank == rank) steps.insert(mark.number);
  return steps.size();
}

ExpectationResult judge_commits(const ExpectationSpec& spec, const RunFacts& facts) {
  const ChosenRanks chosen = chosen_ranks(spec, "ranks", facts);
  if (chosen.ranks.empty()) return answer(spec, Verdict::kUnknown, chosen.why);
  const bool marked = std::any_of(facts.marks.begin(), facts.marks.end(), [](const Mark& mark) {
    return mark.what == "step_commit" || mark.what == "step_begin";
  });
  if (!marked) return answer(spec, Verdict::kUnknown, "the job marks no steps");
  const auto least = static_cast<size_t>(read_int(spec.params, "at_least", 0));
  const auto most = static_cast<size_t>(read_int(spec.params, "at_most", INT64_MAX));
  Verdict verdict = Verdict::kPass;
  std::string because = fmt::format("{} committed as many steps as expected", ranks_text(chosen.ranks));
  for (const int rank : chosen.ranks) {
    const size_t count = committed(facts, rank);
    const auto processes = processes_of(facts, rank);
    const bool whole = !processes.empty() && std::all_of(processes.begin(), processes.end(),
                                                         [](const auto* p) { return whole_marks(*p); });
    Verdict one = count < least || count > most ? Verdict::kFail : Verdict::kPass;
    if (!whole && count <= most)
      one = count >= least && most == INT64_MAX ? Verdict::kPass : Verdict::kUnknown;
    if (one <= verdict) continue;
    verdict = one;
    because =
        fmt::format("rank {} committed {} steps{}", rank, count, whole ? "" : ", as far as its record shows");
  }
  return answer(spec, verdict, because);
}

Status check_commits(const ExpectationSpec& spec, const Scenario&) {
  const int64_t least = read_int(spec.params, "at_least", 0),
                most = read_int(spec.params, "at_most", INT64_MAX);
  if (!spec.params.find("at_least") && !spec.params.find("at_most"))
    return usage_error("commits needs \"at_least\" or \"at_most\"", spec.pos);
  if (least < 0 || most < least) return usage_error("\"at_least\" must not be above \"at_most\"", spec.pos);
  return Done{};
}

const Registration<Oracle> kCommits{{
    .name = "commits",
    .summary = "Each rank committed at least, or at most, this number of different steps.",
    .example = "commits: {at_least: 60}",
    .params = {{"at_least", ParamType::kInt, false, "the fewest steps"},
               {"at_most", ParamType::kInt, false, "the most steps"},
               {"ranks", ParamType::kRankSet, false, "which ranks; all of them when absent"}},
    .check = check_commits,
    .judge = judge_commits,
}};

}  // namespace
}  // namespace rankfault
