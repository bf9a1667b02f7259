// resumed: checks that the first step after a restart is the one after the newest whole checkpoint.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/judge/oracle_queries.h"

namespace rankfault {
namespace {

std::optional<int64_t> first_step(const RunFacts& facts, int rank, int attempt) {
  for (const Mark& mark : facts.marks)
    if (mark.what == "step_begin" && mark.rank == rank && mark.attempt == attempt) return mark.number;
  return std::nullopt;
}

int64_t newest(const RunFacts& facts, const char* what, const char* name, int before_attempt) {
  int64_t step = 0;  // without a mark, step 1 is due
  for (const Mark& mark : facts.marks)
    if (mark.what == what && (!*name || mark.name == name) && mark.attempt < before_attempt)
      step = std::max(step, mark.number);
  return step;
}

// The step of a checkpoint that was being written when the attempt ended. Whether it is whole is not
// recorded. Its step is the newest one that a writing rank committed.
std::optional<int64_t> unfinished_checkpoint(const RunFacts& facts, int attempt) {
  std::set<int> writing;
  for (const Mark& mark : facts.marks) {
    if (mark.attempt != attempt) continue;
    if (mark.what == "phase" && mark.name == "checkpoint") writing.insert(mark.rank);
    if (mark.what == "phase" && mark.name != "checkpoint") writing.erase(mark.rank);
    if (mark.what == "mark" && mark.name == "checkpoint") writing.erase(mark.rank);
  }
  std::optional<int64_t> step;
  for (const Mark& mark : facts.marks)
    if (mark.attempt == attempt && mark.what == "step_commit" && writing.count(mark.rank))
      step = std::max(step.value_or(0), mark.number);
  return step;
}

// Without marks of checkpoints, no step is known to be due.
bool marks_checkpoints(const RunFacts& facts) {
  return std::any_of(facts.marks.begin(), facts.marks.end(), [](const Mark& mark) {
    return (mark.what == "mark" || mark.what == "phase") && mark.name == "checkpoint";
  });
}

std::string why_due(const ExpectationSpec& spec, int64_t due, int64_t checkpoint) {
  if (spec.params.find("step")) return fmt::format("the scenario says step {}", due);
  return fmt::format("the newest whole checkpoint is of step {}", checkpoint);
}

struct AttemptVerdict {
  Verdict verdict = Verdict::kPass;
  std::string text;
};

AttemptVerdict judge_attempt(const ExpectationSpec& spec, const RunFacts& facts, int attempt,
                             const std::vector<int>& ranks) {
  const int64_t checkpoint = newest(facts, "mark", "checkpoint", attempt);
  const int64_t due = read_int(spec.params, "step", checkpoint + 1);
  const auto unfinished = unfinished_checkpoint(facts, attempt - 1);
  const int64_t committed = newest(facts, "step_commit", "", attempt);
  for (const int rank : ranks) {
    const auto step = first_step(facts, rank, attempt);
    if (!step)
      return {processes_of(facts, rank).empty() ? Verdict::kUnknown : Verdict::kFail,
              fmt::format("rank {} began no step in attempt {}", rank, attempt)};
    if (*step != due) {
      const bool open = unfinished && *step == *unfinished + 1 && !spec.params.find("step");
      return {
          open ? Verdict::kUnknown : Verdict::kFail,
          fmt::format("rank {} began attempt {} at step {}; {}{}", rank, attempt, *step,
                      why_due(spec, due, checkpoint),
                      open ? ", and the record does not show whether the one being written was whole" : "")};
    }
    const int64_t lost = committed + 1 - *step;
    if (const int64_t most = read_int(spec.params, "lost_at_most", INT64_MAX); lost > most)
      return {Verdict::kFail, fmt::format("{} committed steps were lost; the limit is {}", lost, most)};
  }
  return {Verdict::kPass, fmt::format("{} continued at step {}", ranks_text(ranks), due)};
}

// The journal lines that show the attempts: where each begins, its ranks, and the steps that logs mark as
// begun.
std::vector<uint64_t> lines_of_attempts(const RunFacts& facts) {
  std::vector<uint64_t> lines = all_numbers<events::AttemptBegin>(facts);
  for (const auto& process : lines_of<events::Process>(facts.journal))
    if (process->attempt > 0 && process->rank >= 0) lines.push_back(process.n);
  std::set<std::pair<int, int>> first;
  for (const auto& marker : lines_of<events::LogMarker>(facts.journal))
    if (marker->marker == "step_begin" && marker->attempt > 0 &&
        first.emplace(marker->rank, marker->attempt).second)
      lines.push_back(marker.n);
  std::sort(lines.begin(), lines.end());
  return lines;
}

ExpectationResult judge_resumed(const ExpectationSpec& spec, const RunFacts& facts) {
  const int attempts = last_attempt(facts);
  const std::vector<uint64_t> lines = lines_of_attempts(facts);
  const ChosenRanks chosen = chosen_ranks(spec, "ranks", facts);
  if (chosen.ranks.empty()) return answer(spec, Verdict::kUnknown, chosen.why);
  if (attempts == 0 && !is_known(facts.teardown) && !lines.empty())
    return answer(spec, Verdict::kFail, "no rank of a second attempt was recorded", lines);
  if (attempts == 0) return answer(spec, Verdict::kUnknown, "no restart was seen", lines);
  const bool steps = std::any_of(facts.marks.begin(), facts.marks.end(),
                                 [](const Mark& mark) { return mark.what == "step_begin"; });
  if (!steps) return answer(spec, Verdict::kUnknown, "the job marks no steps", lines);
  if (!spec.params.find("step") && !marks_checkpoints(facts))
    return answer(spec, Verdict::kUnknown,
                  "the job marks no checkpoints: call mark(\"checkpoint\", STEP) when one is whole, or write "
                  "resumed: {step: N}",
                  lines);
  AttemptVerdict last;
  for (int attempt = 1; attempt <= attempts; ++attempt) {
    last = judge_attempt(spec, facts, attempt, chosen.ranks);
    if (last.verdict != Verdict::kPass) break;
  }
  return answer(spec, last.verdict, last.text, lines);
}

const Registration<Oracle> kResumed{{
    .name = "resumed",
    .summary = "After a restart, the first step is the one after the newest whole checkpoint.",
    .example = "resumed: {lost_at_most: 20}",
    .params = {{"step", ParamType::kInt, false,
                "the step at which it must continue; from the checkpoint marks when absent"},
               {"lost_at_most", ParamType::kInt, false, "how many committed steps may be lost"},
               {"ranks", ParamType::kRankSet, false, "which ranks; all of them when absent"}},
    .judge = judge_resumed,
    .names_fault = true,
}};

}  // namespace
}  // namespace rankfault
