// same_as_reference: checks that values that the ranks reported equal those of the fault-free run at the same
// step.
#include <fmt/format.h>

#include <algorithm>

#include "harness/judge/values.h"

namespace rankfault {
namespace {

ValueVerdict judge_rank(const RunFacts& facts, const Closeness& close, const std::string& name, int64_t step,
                        int rank) {
  const Mark* theirs = newest_value(*facts.reference, name, step, rank);
  if (!theirs) theirs = newest_value(*facts.reference, name, step, -1);
  if (!theirs) return {Verdict::kUnknown, fmt::format("the reference has no {} at step {}", name, step)};
  const Mark* ours = newest_value(facts, name, step, rank);
  if (!ours) return no_value_said(facts, name, step, rank);
  if (close.equal(ours->value, theirs->value)) return {};
  return {Verdict::kFail, fmt::format("{} of rank {} at step {} is {}, but {} in the reference", name, rank,
                                      step, close.text(ours->value), close.text(theirs->value))};
}

ExpectationResult judge_same(const ExpectationSpec& spec, const RunFacts& facts) {
  if (!facts.reference) return answer(spec, Verdict::kUnknown, "the run has no reference");
  const ChosenRanks chosen = chosen_ranks(spec, "ranks", facts);
  if (chosen.ranks.empty()) return answer(spec, Verdict::kUnknown, chosen.why);
  const Closeness close = read_closeness(spec.params.find("equal"));
  const Workload& workload = facts.plan.scenario.workload;
  if (close.bits() && !workload.order_free && facts.reference->plan.scenario.workload.ranks != workload.ranks)
    return answer(spec, Verdict::kUnknown, "the world sizes differ, and the workload is not order_free");
  const Value* at = spec.params.find("at");
  ValueVerdict worst;
  int64_t step = -1;
  const std::vector<std::string> names = read_texts(spec.params, "values");
  for (const std::string& name : names) {
    step = at && at->find("step") ? read_int(*at, "step", -1) : last_step_of(*facts.reference, name);
    for (const int rank : chosen.ranks) {
      ValueVerdict one = judge_rank(facts, close, name, step, rank);
      if (one.verdict > worst.verdict) worst = std::move(one);
    }
  }
  if (names.empty()) return answer(spec, Verdict::kUnknown, "no value is named");
  if (worst.verdict != Verdict::kPass) return answer(spec, worst.verdict, worst.text);
  return answer(
      spec, Verdict::kPass,
      fmt::format("{} values of {} at step {} {} the reference's", names.size(), ranks_text(chosen.ranks),
                  step, close.bits() ? "have the same bits as" : "are near"));
}

Status check_same(const ExpectationSpec& spec, const Scenario& scenario) {
  if (const Value* equal = spec.params.find("equal"); equal && !equal->map() && equal->text != "bits")
    return usage_error("\"equal\" must be bits, {abs: x} or {rel: x}", equal->pos);
  const Workload& workload = scenario.workload;
  const Value* equal = spec.params.find("equal");
  const bool bits = !equal || !equal->map();
  if (bits && !workload.order_free && workload.launcher == LauncherKind::kTorchrun && workload.restarts > 0)
    return usage_error("the world size may change over a restart: write \"order_free: true\" or a bound",
                       spec.pos);
  return Done{};
}

const Registration<Oracle> kSameAsReference{{
    .name = "same_as_reference",
    .summary = "Values the ranks report equal those of the fault-free run at the same step.",
    .example = "same_as_reference: {values: [weights], at: {step: 60}, equal: bits}",
    .params = {{"values", ParamType::kTextList, true, "names of reported values"},
               {"at", ParamType::kMap, false, "{step: N}; the reference's last step when absent"},
               {"equal", ParamType::kAny, false, "bits, {abs: x} or {rel: x}; bits when absent"},
               {"ranks", ParamType::kRankSet, false, "which ranks; all of them when absent"}},
    .check = check_same,
    .judge = judge_same,
}};

}  // namespace
}  // namespace rankfault
