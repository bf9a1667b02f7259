#include "harness/judge/comparison.h"

#include <fmt/format.h>

#include <algorithm>

namespace rankfault {
namespace {

std::string title(const VariantRun& run, const std::vector<JudgedVariant>& all) {
  const auto same = std::count_if(all.begin(), all.end(), [&](const auto& v) { return v.run.id == run.id; });
  return same > 1 ? fmt::format("{} (run {})", run.id, run.n) : run.id;
}

// Drops the line numbers: each run has its own journal.
void add(const ExpectationResult& one, const std::string& where, std::vector<ExpectationResult>& merged) {
  const auto known =
      std::find_if(merged.begin(), merged.end(), [&](const auto& r) { return r.id == one.id; });
  if (known != merged.end() && one.verdict <= known->verdict) return;
  ExpectationResult result = one;
  result.because = fmt::format("{}: {}", where, one.because);
  result.journal.clear();
  if (known == merged.end())
    merged.push_back(std::move(result));
  else
    *known = std::move(result);
}

void add(const FaultResult& one, const std::string& where, std::vector<FaultResult>& merged) {
  const auto known =
      std::find_if(merged.begin(), merged.end(), [&](const auto& f) { return f.id == one.id; });
  FaultResult result = one;
  result.how = fmt::format("{}: {}", where, one.how);
  if (known == merged.end()) return merged.push_back(std::move(result));
  known->parked_ms += one.parked_ms;
  if (one.verified || !known->verified) return;
  result.parked_ms = known->parked_ms;
  *known = std::move(result);
}

bool was_run(const std::string& id, const std::vector<JudgedVariant>& variants) {
  return std::any_of(variants.begin(), variants.end(), [&](const auto& v) { return v.run.id == id; });
}

}  // namespace

Judgement judge_comparison(const std::vector<JudgedVariant>& variants) {
  Judgement out;
  if (variants.empty()) {
    out.summary = "no variant was run";
    return out;
  }
  Verdict verdict = Verdict::kPass;
  std::vector<VariantRun> runs;
  for (const JudgedVariant& variant : variants) {
    const std::string where = title(variant.run, variants);
    verdict = std::max(verdict, variant.judgement.verdict);
    for (const ExpectationResult& result : variant.judgement.expectations)
      add(result, where, out.expectations);
    for (const FaultResult& fault : variant.judgement.faults) add(fault, where, out.faults);
    runs.push_back(variant.run);
  }
  const Plan& plan = runs.front().facts->plan;
  for (const Variant& variant : plan.scenario.variants)
    if (!was_run(variant.id, variants))
      out.expectations.push_back(
          {"variants", "variants", Verdict::kUnknown, variant.id + " was not run", {}});
  for (const ExpectationSpec& spec : plan.scenario.expect)
    if (is_over_variants(spec))
      out.expectations.push_back(Catalog<Oracle>::instance().find(spec.oracle)->judge_over(spec, runs));
  for (const ExpectationResult& result : out.expectations) verdict = std::max(verdict, result.verdict);
  out.verdict = verdict;
  const bool trouble_off = !plan.faults_on || (plan.scenario.bug && !plan.bug_on);
  out.as_it_must_be = is_as_it_must_be(out, trouble_off ? MustBe{} : plan.scenario.must_be);
  out.summary = summary_of(out);
  return out;
}

}  // namespace rankfault
