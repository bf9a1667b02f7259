// square: see square.h.
#include "harness/session/square.h"

#include <fmt/format.h>

#include <algorithm>

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

// "" when the fault bit in the last corner and the named expectation failed there, with evidence.
std::string why_it_does_not_bite(const Scenario& scenario, const Judgement& off,
                                 const std::string& must_fail) {
  for (const FaultResult& fault : off.faults) {
    const auto spec = std::find_if(scenario.faults.begin(), scenario.faults.end(),
                                   [&](const FaultSpec& f) { return f.id == fault.id; });
    if (spec != scenario.faults.end() && spec->optional) continue;
    if (!fault.fired) return fmt::format("with it on, the fault {} does not fire: {}", fault.id, fault.how);
    if (!fault.verified)
      return fmt::format("with it on, the fault {} has no effect: {}", fault.id, fault.how);
  }
  const ExpectationResult* named = result_named(off, must_fail);
  if (!named) return fmt::format("with it on, {} was not judged", must_fail);
  if (named->verdict == Verdict::kFail) return "";
  return fmt::format("with it on, {} is {}: {}", must_fail, to_text(named->verdict), named->because);
}

}  // namespace

Result<std::vector<ToothRow>> Square::prove(const Scenario& scenario) {
  Judgement quiet;
  if (!scenario.bug || scenario.reference_fault_free) {
    Result<Judgement> run = corner(scenario, nullptr, false);
    if (!run) return run.error();
    quiet = std::move(*run);
  }
  Result<Judgement> troubled = corner(scenario, nullptr, true);
  if (!troubled) return troubled.error();
  std::vector<ToothRow> rows;
  if (scenario.bug) {
    Result<ToothRow> row = prove_bug(scenario, *troubled);
    if (!row) return row.error();
    rows.push_back(std::move(*row));
  }
  for (const Tooth& tooth : scenario.teeth) {
    if (options_.interrupted && *options_.interrupted) break;
    Result<ToothRow> row = prove_tooth(scenario, tooth, quiet, *troubled);
    if (!row) return row.error();
    rows.push_back(std::move(*row));
  }
  for (ToothRow& row : rows) row.scenario = scenario.file.empty() ? scenario.name : scenario.file;
  return rows;
}

// Corners without trouble are shared and never compared with anything but the reference.
Result<Judgement> Square::corner(const Scenario& scenario, const Tooth* tooth, bool trouble_on) {
  PlanOptions with = plan_options(options_);
  with.tooth = tooth;
  with.faults_on = with.bug_on = trouble_on;
  const Result<Plan> plan = make_plan(scenario, with);
  if (!plan) return plan.error();
  if (!trouble_on) {
    const Result<References::Entry> entry = references_.get(*plan, "", tooth ? reference_ : "");
    if (!entry) return entry.error();
    if (!tooth && entry->judgement.verdict == Verdict::kPass && scenario.reference_fault_free)
      reference_ = entry->run_dir;
    left_ += entry->cleanup;
    run_dirs_.push_back(entry->run_dir);
    return entry->judgement;
  }
  RunOptions options = run_options(options_);
  options.reference_run = reference_;
  Result<FinishedRun> run = run_(*plan, options);
  if (!run) return run.error();
  left_ += run->report.cleanup;
  if (run->facts) run_dirs_.push_back(run->facts->run_dir);
  return run->report.judgement;
}

Result<ToothRow> Square::prove_tooth(const Scenario& scenario, const Tooth& tooth, const Judgement& quiet,
                                     const Judgement& fault) {
  ToothRow row;
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
    row.why = "without a fault the scenario does not pass: " + quiet.summary;
  else if (!fault.as_it_must_be)
    row.why = "the scenario itself is not as it must be: " + fault.summary;
  else if (off_quiet->verdict != Verdict::kPass)
    row.why = "the tooth breaks the job by itself: " + off_quiet->summary;
  else
    row.why = why_it_does_not_bite(scenario, *off_fault, tooth.must_fail);
  row.bites = row.why.empty();
  if (row.bites) row.why = result_named(*off_fault, tooth.must_fail)->because;
  return row;
}

Result<ToothRow> Square::prove_bug(const Scenario& scenario, const Judgement& bug_on) {
  ToothRow row;
  row.tooth = "bug";
  row.must_fail = "blamed";
  row.on_fault = to_text(bug_on.verdict);
  PlanOptions with = plan_options(options_);
  with.bug_on = false;
  const Result<Plan> plan = make_plan(scenario, with);
  if (!plan) return plan.error();
  RunOptions options = run_options(options_);
  options.reference_run = reference_;
  Result<FinishedRun> run = run_(*plan, options);
  if (!run) return run.error();
  left_ += run->report.cleanup;
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
    row.why = "the scenario itself is not as it must be: " + bug_on.summary;
  else if (!nothing)
    row.why = "with the bug off something is found all the same: " + run->facts->findings.all.front().text;
  else if (!blamed_fails)
    row.why = "with the bug off blamed does not fail";
  else if (!others.empty())
    row.why = "with the bug off more than blamed fails: " + others;
  row.bites = row.why.empty();
  if (row.bites) row.why = "with the bug off only blamed fails, on none";
  return row;
}

}  // namespace rankfault
