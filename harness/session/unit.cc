// unit: see unit.h.
#include "harness/session/unit.h"

#include <fmt/format.h>

#include "harness/session/square.h"

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
  return out;
}

namespace {

UnitResult failed(const Scenario& scenario, const Error& error) {
  UnitResult out;
  out.report.scenario = scenario.name;
  out.report.file = scenario.file;
  if (error.kind == ErrorKind::kMissing)
    out.report.skipped = error.message;
  else
    out.error = error;
  return out;
}

// The reference itself did not pass: nothing can be compared with it.
UnitResult no_reference(const Scenario& scenario, const References::Entry& reference) {
  UnitResult out;
  out.report.scenario = scenario.name;
  out.report.file = scenario.file;
  out.report.cleanup = reference.cleanup;
  Judgement& judgement = out.report.judgement;
  judgement.verdict = Verdict::kUnknown;
  judgement.summary = fmt::format("the reference run did not pass: {} (see {})", reference.judgement.summary,
                                  reference.run_dir);
  judgement.expectations.push_back({"reference", "reference", Verdict::kUnknown, judgement.summary, {}});
  return out;
}

}  // namespace

UnitResult UnitRunner::run(const Scenario& scenario) {
  return options_.teeth ? with_teeth(scenario) : plain(scenario);
}

UnitResult UnitRunner::plain(const Scenario& scenario) {
  PlanOptions plan_with = plan_options(options_);
  const Result<Plan> plan = make_plan(scenario, plan_with);
  if (!plan) return failed(scenario, plan.error());
  RunOptions with = run_options(options_);
  with.run_dir = options_.run_dir;
  std::vector<std::string> spare;
  if (scenario.reference_fault_free) {
    plan_with.faults_on = plan_with.bug_on = false;
    plan_with.seed = plan->seed;
    const Result<Plan> quiet = make_plan(scenario, plan_with);
    if (!quiet) return failed(scenario, quiet.error());
    const std::string dir = options_.run_dir.empty() ? "" : options_.run_dir + ".reference";
    const Result<References::Entry> reference = references_.get(*quiet, dir, "");
    if (!reference) return failed(scenario, reference.error());
    if (reference->judgement.verdict != Verdict::kPass) return no_reference(scenario, *reference);
    with.reference_run = reference->run_dir;
    spare.push_back(reference->run_dir);
  }
  Result<FinishedRun> run = run_(*plan, with);
  if (!run) return failed(scenario, run.error());
  UnitResult out;
  out.report = std::move(run->report);
  out.facts = std::move(run->facts);
  out.report.facts = out.facts.get();
  out.spare = std::move(spare);
  if (!with.reference_run.empty() && out.facts)
    if (Status kept = keep_reference_beside(with.reference_run, out.facts->run_dir); !kept)
      out.error = kept.error();
  return out;
}

UnitResult UnitRunner::with_teeth(const Scenario& scenario) {
  UnitResult out;
  out.report.scenario = scenario.name;
  out.report.file = scenario.file;
  if (scenario.teeth.empty() && !scenario.bug) {
    out.report.skipped = "it has no teeth";
    return out;
  }
  Square square(run_, references_, options_);
  if (Result<std::vector<ToothRow>> rows = square.prove(scenario); rows)
    out.teeth = std::move(*rows);
  else
    return failed(scenario, rows.error());
  out.report.cleanup = square.left();
  out.spare = square.run_dirs();
  return out;
}

}  // namespace rankfault
