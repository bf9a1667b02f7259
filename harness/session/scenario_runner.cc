#include "harness/session/scenario_runner.h"

#include <fmt/format.h>

#include "harness/session/comparison.h"
#include "harness/session/mutation_check.h"

namespace rankfault {

RunOptions run_options(const SessionOptions& options) {
  RunOptions out;
  out.with_agent = options.with_agent;
  out.interrupted = options.interrupted;
  out.progress = options.progress;
  return out;
}

PlanOptions plan_options(const SessionOptions& options) {
  PlanOptions out;
  out.seed = options.seed;
  out.set = options.set;
  out.nccl = options.nccl;
  out.variant = options.variant;
  return out;
}

double seconds_since(Instant begin) {
  return std::chrono::duration<double>(lasted(begin, HostClock::now())).count();
}

namespace {

ScenarioOutcome failed(const Scenario& scenario, const Error& error) {
  ScenarioOutcome out;
  out.report.scenario = scenario.name;
  out.report.file = scenario.file;
  if (error.kind == ErrorKind::kMissing) {
    out.report.skipped = error.message;
  } else if (error.kind == ErrorKind::kUnjudged) {
    Judgement& judgement = out.report.judgement;
    judgement.verdict = Verdict::kUnknown;
    judgement.summary = error.to_string();
    judgement.expectations.push_back({"run", "run", Verdict::kUnknown, judgement.summary, {}});
  } else {
    out.error = error;
  }
  return out;
}

// The result when the reference itself did not pass: no run can be compared with it.
ScenarioOutcome no_reference(const Scenario& scenario, const References::Entry& reference) {
  ScenarioOutcome out;
  out.report.scenario = scenario.name;
  out.report.file = scenario.file;
  out.report.cleanup = reference.cleanup;
  Judgement& judgement = out.report.judgement;
  judgement.verdict = Verdict::kUnknown;
  judgement.not_started = reference.judgement.not_started;
  judgement.summary = fmt::format("the reference run did not pass: {} (see {})", reference.judgement.summary,
                                  reference.run_dir);
  judgement.expectations.push_back({"reference", "reference", Verdict::kUnknown, judgement.summary, {}});
  return out;
}

}  // namespace

ScenarioOutcome ScenarioRunner::run(const Scenario& scenario) {
  const Instant begin = HostClock::now();
  ScenarioOutcome out = run_it(scenario);
  if (out.report.skipped.empty()) out.report.seconds = seconds_since(begin);
  if (out.error) out.report.where = out.error->where;
  return out;
}

ScenarioOutcome ScenarioRunner::run_it(const Scenario& scenario) {
  if (options_.teeth) return with_teeth(scenario);
  if (!scenario.variants.empty() && !options_.variant) return all_variants(scenario);
  return one_run(scenario, options_.variant, options_.run_dir);
}

ScenarioOutcome ScenarioRunner::one_run(const Scenario& scenario, const Variant* variant,
                                        const std::string& run_dir) {
  PlanOptions plan_with = plan_options(options_);
  plan_with.variant = variant;
  const Result<Plan> plan = make_plan(scenario, plan_with);
  if (!plan) return failed(scenario, plan.error());
  RunOptions with = run_options(options_);
  with.run_dir = run_dir;
  std::vector<std::string> extra_run_dirs;
  if (scenario.reference_fault_free) {
    plan_with.faults_on = plan_with.bug_on = false;
    plan_with.seed = plan->seed;
    const Result<Plan> quiet = make_plan(scenario, plan_with);
    if (!quiet) return failed(scenario, quiet.error());
    const std::string dir = run_dir.empty() ? "" : run_dir + ".reference";
    const Result<References::Entry> reference = references_.get(*quiet, dir, "");
    if (!reference) return failed(scenario, reference.error());
    if (reference->judgement.verdict != Verdict::kPass) return no_reference(scenario, *reference);
    with.reference_run = reference->run_dir;
    extra_run_dirs.push_back(reference->run_dir);
  }
  Result<FinishedRun> run = run_(*plan, with);
  if (!run) return failed(scenario, run.error());
  ScenarioOutcome out;
  out.report = std::move(run->report);
  out.facts = std::move(run->facts);
  out.report.facts = out.facts.get();
  out.extra_run_dirs = std::move(extra_run_dirs);
  if (!with.reference_run.empty() && out.facts)
    if (Status kept = keep_reference_beside(with.reference_run, out.facts->run_dir); !kept)
      out.error = kept.error();
  return out;
}

// Checks all variants first: if one cannot run, the others have nothing to be compared with.
Status ScenarioRunner::can_start_all(const Scenario& scenario) {
  PlanOptions plan_with = plan_options(options_);
  for (const Variant& variant : scenario.variants) {
    plan_with.variant = &variant;
    const Result<Plan> plan = make_plan(scenario, plan_with);
    if (!plan) return plan.error();
    if (!options_.can_start) continue;
    if (const Status may = options_.can_start(*plan); !may) return may;
  }
  return Done{};
}

// Runs the variants in turns, so that a change on the host does not affect one variant alone.
ScenarioOutcome ScenarioRunner::all_variants(const Scenario& scenario) {
  if (const Status may = can_start_all(scenario); !may) return failed(scenario, may.error());
  Result<Comparison> opened = Comparison::open(scenario, options_.run_dir);
  if (!opened) return failed(scenario, opened.error());
  ScenarioOutcome out;
  for (const auto& [variant, n] : opened->turns()) {
    if (options_.interrupted && *options_.interrupted != 0) break;
    ScenarioOutcome one = one_run(scenario, variant, opened->run_dir(*variant, n));
    out.extra_run_dirs.insert(out.extra_run_dirs.end(), one.extra_run_dirs.begin(), one.extra_run_dirs.end());
    out.report.cleanup += one.report.cleanup;
    if (one.facts && !one.error && !one.report.judgement.not_started) {
      opened->add(*variant, n, std::move(one));
      continue;
    }
    one.extra_run_dirs = out.extra_run_dirs;  // an error, a missing need, or no reference to compare with
    one.extra_run_dirs.push_back(opened->dir());
    if (!one.report.skipped.empty() && out.report.cleanup.empty()) opened->discard();
    return one;
  }
  const std::string left = std::move(out.report.cleanup);
  if (Result<RunReport> report = opened->finish(); report)
    out.report = std::move(*report);
  else
    return failed(scenario, report.error());
  out.report.cleanup = left;
  out.extra_run_dirs.push_back(opened->dir());
  return out;
}

ScenarioOutcome ScenarioRunner::with_teeth(const Scenario& scenario) {
  ScenarioOutcome out;
  out.report.scenario = scenario.name;
  out.report.file = scenario.file;
  if (scenario.teeth.empty() && !scenario.bug) {
    out.report.skipped = kNoTeeth;
    return out;
  }
  MutationCheck square(run_, references_, options_);
  if (Result<std::vector<MutationRow>> rows = square.prove(scenario); rows)
    out.teeth = std::move(*rows);
  else
    return failed(scenario, rows.error());
  out.report.cleanup = square.left();
  out.extra_run_dirs = square.run_dirs();
  return out;
}

}  // namespace rankfault
