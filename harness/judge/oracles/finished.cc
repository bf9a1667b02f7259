// finished: checks that the job did its work: every rank of the last attempt exited 0 by itself.
#include <fmt/format.h>

#include "harness/judge/oracle_queries.h"
#include "harness/judge/oracles/ended.h"
#include "harness/judge/own_errors.h"

namespace rankfault {
namespace {

RankAnswer all_exited_zero(const RunFacts& facts, const std::vector<int>& ranks,
                           std::vector<uint64_t>& lines) {
  const int attempt = last_attempt(facts);
  RankAnswer worst{Verdict::kPass, fmt::format("{} exited 0", ranks_text(ranks))};
  for (const int rank : ranks) {
    for (const uint64_t line : end_lines(facts, rank, attempt)) lines.push_back(line);
    RankAnswer one = rank_ended_as(facts, rank, attempt, "zero");
    if (one.verdict > worst.verdict) worst = std::move(one);
  }
  return worst;
}

ExpectationResult judge_finished(const ExpectationSpec& spec, const RunFacts& facts) {
  const ChosenRanks chosen = chosen_ranks(spec, "ranks", facts);
  if (chosen.ranks.empty()) return answer(spec, Verdict::kUnknown, chosen.why);
  std::vector<uint64_t> lines;
  const RankAnswer worst = all_exited_zero(facts, chosen.ranks, lines);
  return answer(spec, worst.verdict, worst.because, lines);
}

// "rank 1: it reported timeout (12 errors)": the errors of ranks in a run without faults.
std::string errors_seen(const RunFacts& facts, const std::vector<int>& ranks) {
  std::string text;
  for (const int rank : ranks) {
    const std::vector<OwnError> errors = own_errors(facts, rank);
    if (errors.empty()) continue;
    text += fmt::format("{}rank {}: {}", text.empty() ? "" : ", ", rank, errors.front().text);
    if (errors.size() > 1) text += fmt::format(" ({} errors)", errors.size());
  }
  return text;
}

// A run without faults must pass this before another run is compared with it.
ExpectationResult judge_reference(const ExpectationSpec& spec, const RunFacts& facts) {
  std::vector<uint64_t> lines;
  const ChosenRanks all = chosen_ranks(spec, "ranks", facts);
  const RankAnswer worst = all_exited_zero(facts, all.ranks, lines);
  if (worst.verdict != Verdict::kPass) return answer(spec, worst.verdict, worst.because, lines);
  for (const Finding& finding : facts.findings.all)
    if (finding.kind == "cannot_say")
      return answer(spec, Verdict::kUnknown, "the diagnosis cannot say: " + finding.text, lines);
  for (const Finding& finding : facts.findings.all)
    if (finding.kind != "none" && finding.confidence == Confidence::kProven)
      return answer(spec, Verdict::kFail, "no fault was injected, but the diagnosis found: " + finding.text,
                    lines);
  const std::string errors = errors_seen(facts, all.ranks);
  return answer(spec, Verdict::kPass,
                worst.because + ", and no finding is proven" +
                    (errors.empty() ? "" : "; ranks saw errors that do not indicate a fault: " + errors),
                lines);
}

ExpectationResult judge_finished_in_time(const ExpectationSpec& spec, const RunFacts& facts) {
  const std::vector<uint64_t> lines = all_numbers<events::Teardown>(facts);
  const Duration wall = facts.plan.scenario.workload.limits.wall;
  if (!is_known(facts.teardown) && lines.empty())
    return answer(spec, Verdict::kUnknown, "the run was cut off");
  if (!is_known(facts.teardown))
    return answer(spec, Verdict::kPass, fmt::format("the job ended within {}", to_text(wall)), lines);
  if (facts.teardown_reason != "wall")
    return answer(spec, Verdict::kUnknown, fmt::format("rankfault ended the run ({})", facts.teardown_reason),
                  lines);
  const std::string late = fmt::format("the job still ran after limits.wall, {}", to_text(wall));
  if (!starved_meanwhile(facts, facts.begin, wall, facts.teardown).empty())
    return answer(spec, Verdict::kUnknown, late + ", but the host was starved", lines);
  return answer(spec, Verdict::kFail, late, lines);
}

const Registration<Oracle> kFinished{{
    .name = "finished",
    .summary = "Every rank of the last attempt exited 0, by itself.",
    .example = "finished: {ranks: all}",
    .params = {{"ranks", ParamType::kRankSet, false, "which ranks; all of them when absent"}},
    .judge = judge_finished,
}};

const Registration<Oracle> kReference{{
    .name = "reference",
    .summary = "A run without faults is healthy: every rank exited 0, and no finding is proven. Implied for "
               "reference runs.",
    .example = "reference: {}",
    .judge = judge_reference,
}};

const Registration<Oracle> kFinishedInTime{{
    .name = "finished_in_time",
    .summary = "The job ended before limits.wall. Implied where the job reached that limit.",
    .example = "finished_in_time: {}",
    .judge = judge_finished_in_time,
}};

}  // namespace
}  // namespace rankfault
