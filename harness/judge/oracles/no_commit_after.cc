// no_commit_after: checks that no rank commits the fault's step or a later one in the attempt that the fault
// hit.
//
// The order of steps counts, not time: a slow rank may commit an earlier step after the fault.
#include <fmt/format.h>

#include <algorithm>

#include "harness/judge/oracle_queries.h"

namespace rankfault {
namespace {

const GateEvent* first_firing(const RunFacts& facts, const std::string& fault) {
  const GateEvent* first = nullptr;
  for (const GateEvent& gate : facts.gates)
    if (gate.fault == fault && gate.effect == "done" && (!first || gate.done < first->done)) first = &gate;
  return first;
}

std::string fault_meant(const ExpectationSpec& spec, const RunFacts& facts) {
  const std::string id = read_text(spec.params, "fault");
  return !id.empty() || facts.plan.scenario.faults.empty() ? id : facts.plan.scenario.faults.front().id;
}

// The step that the victim was in. The gate names it; for a firing that was granted beforehand, the victim's
// marks show it.
int64_t step_of(const RunFacts& facts, const GateEvent& gate) {
  if (gate.step >= 0) return gate.step;
  const auto at = facts.fault_at.find(gate.fault);
  int64_t step = -1;
  for (const Mark& mark : facts.marks)
    if (mark.what == "step_begin" && mark.rank == gate.rank && mark.attempt == gate.attempt &&
        is_known(mark.time) && at != facts.fault_at.end() && mark.time <= at->second)
      step = mark.number;
  return step;
}

bool anybody_commits(const RunFacts& facts) {
  const auto commits = [](const Mark& mark) { return mark.what == "step_commit"; };
  return std::any_of(facts.marks.begin(), facts.marks.end(), commits) ||
         (facts.reference &&
          std::any_of(facts.reference->marks.begin(), facts.reference->marks.end(), commits));
}

// The newest step that a rank committed in the attempt; -1: none. The count in the header of the record stays
// when the history is overwritten.
int64_t newest_commit(const RunFacts& facts, int rank, int attempt) {
  int64_t step = -1;
  for (const Mark& mark : facts.marks)
    if (mark.what == "step_commit" && mark.rank == rank && mark.attempt == attempt)
      step = std::max(step, mark.number);
  for (const ProcessView* process : processes_of(facts, rank))
    if (process->attempt == attempt)
      step = std::max(step, static_cast<int64_t>(process->steps_committed) - 1);
  return step;
}

ExpectationResult judge_no_commit(const ExpectationSpec& spec, const RunFacts& facts) {
  const DeadlineStart from = deadline_start(spec, "fault", facts);
  if (from.otherwise != Verdict::kPass) return answer(spec, from.otherwise, from.what, from.lines);
  const GateEvent* gate = first_firing(facts, fault_meant(spec, facts));
  if (!gate) return answer(spec, Verdict::kUnknown, "the journal shows no firing of the fault", from.lines);
  const int64_t step = step_of(facts, *gate);
  if (step < 0)
    return answer(spec, Verdict::kUnknown, "the victim was in no step: the job marks no steps", gate->lines);
  if (!anybody_commits(facts))
    return answer(spec, Verdict::kUnknown, "no rank ever commits a step", gate->lines);
  const ChosenRanks chosen = chosen_ranks(spec, "ranks", facts);
  if (chosen.ranks.empty()) return answer(spec, Verdict::kUnknown, chosen.why);
  std::string unseen;
  for (const int rank : chosen.ranks) {
    if (const int64_t newest = newest_commit(facts, rank, gate->attempt); newest >= step)
      return answer(
          spec, Verdict::kFail,
          fmt::format("rank {} committed step {}, but the fault was in step {}", rank, newest, step),
          gate->lines);
    const bool seen =
        std::any_of(facts.timeline.processes.begin(), facts.timeline.processes.end(), [&](const auto& p) {
          return p.rank == rank && !p.helper && p.attempt == gate->attempt && p.stage >= RF_STAGE_MEMBER;
        });
    if (!seen && unseen.empty()) unseen = fmt::format("rank {} has no record", rank);
  }
  if (!unseen.empty()) return answer(spec, Verdict::kUnknown, unseen, gate->lines);
  return answer(spec, Verdict::kPass,
                fmt::format("{} committed nothing from step {} on", ranks_text(chosen.ranks), step),
                gate->lines);
}

bool decided_no_commit(const ExpectationSpec& spec, const RunFacts& facts) {
  return judge_no_commit(spec, facts).verdict == Verdict::kFail;
}

const Registration<Oracle> kNoCommitAfter{{
    .name = "no_commit_after",
    .summary = "No rank commits the step in which the fault fired, or a later one, before a restart.",
    .example = "no_commit_after: {fault: skip}",
    .params = {{"fault", ParamType::kText, false, "the fault; the first one when absent"},
               {"ranks", ParamType::kRankSet, false, "which ranks; all of them when absent"}},
    .judge = judge_no_commit,
    .names_fault = true,
    .decided = decided_no_commit,
}};

}  // namespace
}  // namespace rankfault
