#include "harness/reproduce/confirm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "harness/reproduce/from_timeline.h"
#include "harness/reproduce/recorded.h"
#include "harness/reproduce/same_state.h"
#include "harness/run_scenario.h"
#include "harness/scenario/scenario_parser.h"
#include "harness/scenario/validate.h"

namespace rankfault {

constexpr size_t kAllCalls = SIZE_MAX;
Result<Confirmation> confirm(const std::string& scenario, const std::string& file, const Case& wanted,
                             const ConfirmOptions& options) {
  const Result<Scenario> parsed = parse_scenario(scenario, file);
  if (!parsed) return parsed.error();
  const Result<Plan> plan = make_plan(*parsed, {});
  if (!plan) return plan.error();
  if (const Status can = can_start(*plan, true); !can) return can.error();
  if (!options.runs.empty()) ::setenv("RANKFAULT_RUNS", options.runs.c_str(), 1);
  RunOptions with;
  with.interrupted = options.interrupted;
  with.enough = [&](const Findings& found) {
    return !found.all.empty() && difference(wanted.state, state_of(found.all)).empty();
  };
  const Result<FinishedRun> run = run_scenario(*plan, with);
  if (!run) return run.error();
  Confirmation result;
  result.run_dir = run->facts->run_dir;
  if (run->report.judgement.not_started)
    return usage_error("the job did not start: see " + result.run_dir + "/logs");
  const Result<RecordedJob> recorded = recorded_run(result.run_dir);
  if (!recorded) return recorded.error();
  const Case got = case_from_timeline(recorded->timeline, recorded->findings, kAllCalls);
  result.got = got.state;
  result.why_not = difference(wanted, got);
  if (!result.why_not.empty())
    result.why_not = difference(wanted, case_from_timeline(recorded->last, recorded->findings, kAllCalls));
  result.reproduced = result.why_not.empty();
  if (is_known(run->facts->findings.all[0].at))
    result.to_finding_s =
        static_cast<double>((run->facts->findings.all[0].at - run->facts->begin).count()) / 1e9;
  return result;
}

}  // namespace rankfault
