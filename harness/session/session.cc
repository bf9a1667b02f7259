#include "harness/session/session.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>

#include "harness/base/exit_code.h"
#include "harness/judge/oracle.h"
#include "harness/session/comparison.h"
#include "harness/session/workers.h"

namespace rankfault {
namespace {

bool interrupted(const SessionOptions& options) { return options.interrupted && *options.interrupted != 0; }

Status plan_all(const std::vector<Scenario>& scenarios, const SessionOptions& options) {
  for (const Scenario& scenario : scenarios) {
    PlanOptions with = plan_options(options);
    if (Result<Plan> plan = make_plan(scenario, with); !plan) return plan.error();
    for (const Variant& variant : scenario.variants) {
      with.variant = &variant;
      if (Result<Plan> plan = make_plan(scenario, with); !plan) return plan.error();
    }
  }
  return Done{};
}

void forget(std::string& run_dir) {
  std::error_code none;
  if (!run_dir.empty()) std::filesystem::remove_all(run_dir, none);
  run_dir.clear();
}

// Whether the user asked to keep its run directories.
bool stays(const ScenarioOutcome& unit, Keep keep) {
  if (keep != Keep::kFailed) return keep == Keep::kAll;
  const bool bites =
      std::all_of(unit.teeth.begin(), unit.teeth.end(), [](const MutationRow& r) { return r.bites; });
  return unit.error || !unit.report.cleanup.empty() ||
         !(unit.teeth.empty() ? unit.report.judgement.as_it_must_be : bites);
}

// Runs of one command share references, so all are removed at its end.
void drop_runs(std::vector<ScenarioOutcome>& units, Keep keep) {
  for (ScenarioOutcome& unit : units) {
    if (stays(unit, keep)) continue;
    if (unit.facts) forget(unit.facts->run_dir);
    for (std::string& extra_run_dirs : unit.extra_run_dirs) forget(extra_run_dirs);
  }
}

bool sets_the_launcher(const Variant& variant) {
  return std::any_of(variant.set.begin(), variant.set.end(),
                     [](const auto& change) { return change.first == "workload.launcher"; });
}

bool may_overlap(const Scenario& scenario) {
  return scenario.workload.launcher == LauncherKind::kLocal &&
         std::none_of(scenario.variants.begin(), scenario.variants.end(), sets_the_launcher);
}

}  // namespace

int exit_code_of(const ScenarioOutcome& unit, bool by_verdict) {
  if (unit.error) return exit_of(*unit.error);
  if (!unit.report.cleanup.empty()) return kExitCleanupIncomplete;
  if (!unit.report.skipped.empty()) return kExitSkipped;
  if (!unit.teeth.empty())
    return std::all_of(unit.teeth.begin(), unit.teeth.end(), [](const MutationRow& row) { return row.bites; })
               ? kExitPass
               : kExitFail;
  return by_verdict ? exit_of_verdict(unit.report.judgement) : exit_of_outcome(unit.report.judgement);
}

int merged_exit_code(const std::vector<int>& codes) {
  for (const int code :
       {kExitInternal, kExitUsage, kExitHost, kExitCleanupIncomplete, kExitFail, kExitUnknown})
    if (std::find(codes.begin(), codes.end(), code) != codes.end()) return code;
  const bool all_skipped = !codes.empty() && std::all_of(codes.begin(), codes.end(),
                                                         [](int code) { return code == kExitSkipped; });
  return all_skipped ? kExitSkipped : kExitPass;
}

Result<SessionResult> run_session(const std::vector<Scenario>& scenarios, const RunFunction& run,
                                  const SessionOptions& options) {
  if (Status planned = plan_all(scenarios, options); !planned) return planned.error();
  SessionResult out;
  out.units.resize(scenarios.size());
  std::vector<bool> done(scenarios.size(), false);
  const auto keep = [&](size_t i, ScenarioOutcome unit) {
    out.units[i] = std::move(unit);
    out.units[i].report.exit_code = exit_code_of(out.units[i], options.by_verdict);
    out.units[i].report.is_kept = stays(out.units[i], options.keep);
    done[i] = true;
    if (options.finished) options.finished(out.units[i]);
  };
  if (options.jobs > 1) {
    std::vector<size_t> side_by_side;
    for (size_t i = 0; i < scenarios.size(); ++i)
      if (may_overlap(scenarios[i])) side_by_side.push_back(i);
    run_in_workers(scenarios, side_by_side, run, options, keep);
  }
  ScenarioRunner runner(run, options);
  for (size_t i = 0; i < scenarios.size() && !interrupted(options); ++i)
    if (!done[i]) keep(i, runner.run(scenarios[i]));
  std::vector<int> codes;
  for (size_t i = 0; i < scenarios.size(); ++i)
    if (done[i]) codes.push_back(out.units[i].report.exit_code);
  for (size_t i = scenarios.size(); i-- > 0;)
    if (!done[i]) out.units.erase(out.units.begin() + static_cast<std::ptrdiff_t>(i));
  drop_runs(out.units, options.keep);
  out.exit_code = merged_exit_code(codes);
  if (interrupted(options)) out.exit_code = 128 + *options.interrupted;
  return out;
}

Result<FinishedRun> judge_run(const std::string& run_dir) {
  if (is_comparison(run_dir)) {
    Result<RunReport> report = judge_comparison_dir(run_dir);
    if (!report) return report.error();
    return FinishedRun{nullptr, std::move(*report)};
  }
  return judge_finished(run_dir);
}

}  // namespace rankfault
