#include "harness/session/mutation_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/judge/comparison.h"
#include "harness/session/session.h"

namespace rankfault {
namespace {

const ExpectationResult* result_named(const Judgement& judgement, const std::string& id) {
  for (const ExpectationResult& result : judgement.expectations)
    if (result.id == id) return &result;
  return nullptr;
}

std::vector<std::string> failed_beside(const Judgement& judgement, const std::string& id) {
  std::vector<std::string> out;
  for (const ExpectationResult& result : judgement.expectations)
    if (result.verdict == Verdict::kFail && result.id != id) out.push_back(result.id);
  return out;
}

// Returns "" if the faults had their effect in the last corner and the named expectation failed there, with
// evidence.
std::string why_it_does_not_bite(const Scenario& scenario, const Judgement& off,
                                 const std::string& must_fail) {
  for (const FaultResult& fault : off.faults) {
    const auto spec = std::find_if(scenario.faults.begin(), scenario.faults.end(),
                                   [&](const FaultSpec& f) { return f.id == fault.id; });
    if (spec != scenario.faults.end() && spec->optional) continue;
    if (!fault.fired)
      return fmt::format("with the mutation, the fault {} does not fire: {}", fault.id, fault.how);
    if (!fault.verified)
      return fmt::format("with the mutation, the fault {} has no effect: {}", fault.id, fault.how);
  }
  const ExpectationResult* named = result_named(off, must_fail);
  if (!named) return fmt::format("with the mutation, {} was not judged", must_fail);
  if (named->verdict == Verdict::kFail) return "";
  return fmt::format("with the mutation, {} is {}: {}", must_fail, to_text(named->verdict), named->because);
}

}  // namespace

Result<std::vector<MutationRow>> MutationCheck::prove(const Scenario& scenario) {
  Judgement quiet;
  Instant begin = HostClock::now();
  const auto take_time = [&begin](MutationRow& row) {
    row.seconds = seconds_since(begin);
    begin = HostClock::now();
  };
  const bool compares_only = !scenario.bug && scenario.faults.empty() && !scenario.variants.empty();
  if (!compares_only && (!scenario.bug || scenario.reference_fault_free)) {
    Result<Judgement> run = corner(scenario, nullptr, false);
    if (!run) return run.error();
    quiet = std::move(*run);
  }
  Result<Judgement> troubled = corner(scenario, nullptr, true);
  if (!troubled) return troubled.error();
  std::vector<MutationRow> rows;
  if (scenario.bug) {
    Result<MutationRow> row = prove_bug(scenario, *troubled);
    if (!row) return row.error();
    take_time(*row);
    rows.push_back(std::move(*row));
  }
  for (const Tooth& tooth : scenario.teeth) {
    if (options_.interrupted && *options_.interrupted) break;
    Result<MutationRow> row = compares_only ? prove_comparison(scenario, tooth, *troubled)
                                            : prove_tooth(scenario, tooth, quiet, *troubled);
    if (!row) return row.error();
    take_time(*row);
    rows.push_back(std::move(*row));
  }
  for (MutationRow& row : rows) {
    row.scenario = scenario.file.empty() ? scenario.name : scenario.file;
    row.cuda_double = cuda_double_;
  }
  return rows;
}

void MutationCheck::note(const RunReport& report) {
  left_ += report.cleanup;
  if (!report.cuda_double.empty()) cuda_double_ = report.cuda_double;
}

// Runs without fault and bug are shared, and compared with the reference only. The result of such a run may
// lack its facts, so a variant reads them from the run directory.
Result<FinishedRun> MutationCheck::run_once(const Scenario& scenario, const Variant* variant,
                                            const Tooth* tooth, bool trouble_on) {
  PlanOptions with = plan_options(options_);
  with.variant = variant;
  with.tooth = tooth;
  with.faults_on = with.bug_on = trouble_on;
  const Result<Plan> plan = make_plan(scenario, with);
  if (!plan) return plan.error();
  std::string& reference = references_of_[plan->variant];
  if (!trouble_on) {
    const Result<References::Entry> entry = references_.get(*plan, "", tooth ? reference : "");
    if (!entry) return entry.error();
    if (!tooth && entry->judgement.verdict == Verdict::kPass && scenario.reference_fault_free)
      reference = entry->run_dir;
    left_ += entry->cleanup;
    run_dirs_.push_back(entry->run_dir);
    if (variant) return judge_run(entry->run_dir);
    FinishedRun out;
    out.report.judgement = entry->judgement;
    return out;
  }
  RunOptions options = run_options(options_);
  options.reference_run = reference;
  Result<FinishedRun> run = run_(*plan, options);
  if (!run) return run.error();
  note(run->report);
  if (run->facts) run_dirs_.push_back(run->facts->run_dir);
  return run;
}

// Runs each variant once: mutation checks do not test the spread of repeated runs.
Result<Judgement> MutationCheck::all_variants(const Scenario& scenario, const Tooth* tooth, bool trouble_on) {
  std::vector<FinishedRun> runs;
  std::vector<JudgedVariant> variants;
  for (const Variant& variant : scenario.variants) {
    Result<FinishedRun> run = run_once(scenario, &variant, tooth, trouble_on);
    if (!run) return run.error();
    runs.push_back(std::move(*run));
    variants.push_back({{variant.id, 1, runs.back().facts.get()}, runs.back().report.judgement});
  }
  return judge_comparison(variants);
}

Result<Judgement> MutationCheck::corner(const Scenario& scenario, const Tooth* tooth, bool trouble_on) {
  if (!scenario.variants.empty()) return all_variants(scenario, tooth, trouble_on);
  Result<FinishedRun> run = run_once(scenario, nullptr, tooth, trouble_on);
  if (!run) return run.error();
  return std::move(run->report.judgement);
}

Result<MutationRow> MutationCheck::prove_tooth(const Scenario& scenario, const Tooth& tooth,
                                               const Judgement& quiet, const Judgement& fault) {
  MutationRow row;
  row.tooth = tooth.id;
  row.must_fail = tooth.must_fail;
  const bool has_quiet = !quiet.expectations.empty();
  if (has_quiet) row.on_quiet = to_text(quiet.verdict);
  row.on_fault = to_text(fault.verdict);
  Result<Judgement> off_quiet = corner(scenario, &tooth, false);
  if (!off_quiet) return off_quiet.error();
  row.off_quiet = to_text(off_quiet->verdict);
  Result<Judgement> off_fault = corner(scenario, &tooth, true);
  if (!off_fault) return off_fault.error();
  row.off_fault = to_text(off_fault->verdict);
  row.also_failed = failed_beside(*off_fault, tooth.must_fail);
  if (has_quiet && quiet.verdict != Verdict::kPass)
    row.why = "without the fault the scenario does not pass: " + quiet.summary;
  else if (!fault.as_it_must_be)
    row.why = "without the mutation the scenario is not as expected: " + fault.summary;
  else if (off_quiet->verdict != Verdict::kPass)
    row.why = "the mutation alone breaks the job: " + off_quiet->summary;
  else
    row.why = why_it_does_not_bite(scenario, *off_fault, tooth.must_fail);
  row.bites = row.why.empty();
  if (row.bites) row.why = result_named(*off_fault, tooth.must_fail)->because;
  return row;
}

// Without a fault, a mutation check may break only the comparison of the variants.
Result<MutationRow> MutationCheck::prove_comparison(const Scenario& scenario, const Tooth& tooth,
                                                    const Judgement& on) {
  MutationRow row;
  row.tooth = tooth.id;
  row.must_fail = tooth.must_fail;
  row.on_fault = to_text(on.verdict);
  const Result<Judgement> off = corner(scenario, &tooth, true);
  if (!off) return off.error();
  row.off_fault = to_text(off->verdict);
  row.also_failed = failed_beside(*off, tooth.must_fail);
  std::string broken;
  for (const ExpectationResult& result : off->expectations)
    if (result.verdict != Verdict::kPass && !is_over_variants(result.oracle))
      broken += fmt::format("{}{} ({})", broken.empty() ? "" : ", ", result.id, to_text(result.verdict));
  if (!on.as_it_must_be)
    row.why = "without the mutation the scenario is not as expected: " + on.summary;
  else if (!broken.empty())
    row.why = "the mutation alone breaks the job: " + broken;
  else
    row.why = why_it_does_not_bite(scenario, *off, tooth.must_fail);
  row.bites = row.why.empty();
  if (row.bites) row.why = result_named(*off, tooth.must_fail)->because;
  return row;
}

Result<MutationRow> MutationCheck::prove_bug(const Scenario& scenario, const Judgement& bug_on) {
  MutationRow row;
  row.tooth = "bug";
  row.must_fail = "blamed";
  row.on_fault = to_text(bug_on.verdict);
  PlanOptions with = plan_options(options_);
  with.bug_on = false;
  const Result<Plan> plan = make_plan(scenario, with);
  if (!plan) return plan.error();
  RunOptions options = run_options(options_);
  options.reference_run = references_of_[""];
  Result<FinishedRun> run = run_(*plan, options);
  if (!run) return run.error();
  note(run->report);
  if (run->facts) run_dirs_.push_back(run->facts->run_dir);
  const Judgement& off = run->report.judgement;
  row.off_quiet = to_text(off.verdict);
  std::string others;
  bool blamed_fails = false;
  for (const ExpectationResult& result : off.expectations) {
    if (result.oracle == "blamed" && result.verdict == Verdict::kFail)
      blamed_fails = true;
    else if (result.verdict != Verdict::kPass)
      others += fmt::format("{}{} ({})", others.empty() ? "" : ", ", result.id, to_text(result.verdict));
  }
  const bool nothing = !run->facts || run->facts->findings.nothing_wrong();
  if (!bug_on.as_it_must_be)
    row.why = "with the bug on, the scenario is not as expected: " + bug_on.summary;
  else if (!nothing)
    row.why = "with the bug off, rankfault still finds something: " + run->facts->findings.all.front().text;
  else if (!blamed_fails)
    row.why = "with the bug off, blamed does not fail";
  else if (!others.empty())
    row.why = "with the bug off, other expectations than blamed do not pass: " + others;
  row.bites = row.why.empty();
  if (row.bites) row.why = "with the bug off, only blamed fails, and rankfault finds nothing";
  return row;
}

}  // namespace rankfault
