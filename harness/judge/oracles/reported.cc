// reported: checks that the diagnosis reported this trouble while it lasted. An inferred finding is withdrawn
// when the trouble is over (a slow rank came, a stopped one was continued), and then blames no rank.
#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnose/finding.h"
#include "harness/judge/finding_words.h"
#include "harness/judge/oracle_queries.h"

namespace rankfault {
namespace {

bool same_ranks(const Value& wanted, std::vector<int> ranks, const RunFacts& facts) {
  const Result<RankSet> set = read_rank_set(wanted);
  if (!set) return false;
  std::vector<int> meant = resolve(*set, facts.plan.scenario.workload.ranks, victims_of(facts, ""));
  std::sort(meant.begin(), meant.end());
  std::sort(ranks.begin(), ranks.end());
  return meant == ranks;
}

const std::vector<std::string> kKeys{"kind", "ranks", "saying"};

bool matches(const Value& wanted, const Finding& finding, const RunFacts& facts) {
  if (wanted.find("kind") && finding.kind != read_text(wanted, "kind")) return false;
  if (finding.text.find(read_text(wanted, "saying")) == std::string::npos) return false;
  const Value* ranks = wanted.find("ranks");
  return !ranks || same_ranks(*ranks, finding.ranks, facts);
}

bool is_meant(const ExpectationSpec& spec, const Finding& finding, const RunFacts& facts) {
  if (finding.withdrawn || !matches(spec.params, finding, facts)) return false;
  const Value* any_of = spec.params.find("any_of");
  return !any_of || std::any_of(any_of->list()->begin(), any_of->list()->end(),
                                [&](const Value& one) { return matches(one, finding, facts); });
}

ExpectationResult judge_reported(const ExpectationSpec& spec, const RunFacts& facts) {
  std::string instead;
  for (const auto& line : lines_of<events::Finding>(facts.journal)) {
    const Result<Finding> finding = finding_from_json(line->finding);
    if (!finding) continue;
    if (is_meant(spec, *finding, facts)) return answer(spec, Verdict::kPass, finding->text, {line.n});
    if (instead.empty() && finding->kind != "none")
      instead = finding->text.empty() ? finding->kind : finding->text;
  }
  if (facts.findings.all.empty()) return answer(spec, Verdict::kUnknown, "rankfault never looked at the job");
  return answer(spec, Verdict::kFail,
                instead.empty() ? "the diagnosis reported nothing" : "reported instead: " + instead,
                all_numbers<events::Look>(facts));
}

Status check_ranks(const Value& wanted) {
  const Value* ranks = wanted.find("ranks");
  if (!ranks) return Done{};
  const Result<RankSet> set = read_rank_set(*ranks);
  return set ? Status(Done{}) : Error{set.error().kind, set.error().message, ranks->pos};
}

Status check_reported(const ExpectationSpec& spec, const Scenario&) {
  const Value* any_of = spec.params.find("any_of");
  if (!any_of && !spec.params.find("kind"))
    return usage_error("reported needs \"kind\" or \"any_of\"", spec.pos);
  if (!any_of) return check_finding_words(spec.params);
  if (const Status ok = check_any_of(*any_of, kKeys, "reported"); !ok) return ok;
  for (const Value& one : *any_of->list())
    if (const Status ok = check_ranks(one); !ok) return ok;
  return check_finding_words(spec.params);
}

// A later look cannot remove a finding from the journal.
bool decided_reported(const ExpectationSpec& spec, const RunFacts& facts) {
  return judge_reported(spec, facts).verdict == Verdict::kPass;
}

const Registration<Oracle> kReported{{
    .name = "reported",
    .summary = "The diagnosis reported this trouble while it lasted, even if it was over in the end and no "
               "rank is blamed.",
    .example = "reported: {kind: slow_rank, ranks: [3], saying: times as long}",
    .params = {{"kind", ParamType::kText, false, "the finding's kind"},
               {"ranks", ParamType::kRankSet, false, "exactly these ranks; any when absent"},
               {"saying", ParamType::kText, false, "a part of its text"},
               {"any_of", ParamType::kAny, false, "alternatives, each a map of the keys above"}},
    .check = check_reported,
    .judge = judge_reported,
    .names_fault = true,
    .decided = decided_reported,
}};

}  // namespace
}  // namespace rankfault
