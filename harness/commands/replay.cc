// replay: `rankfault replay RUN`: repeats a run with the same plan, choices, command, directory, environment
// and files, and says where the new run differs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>

#include "harness/base/mask.h"
#include "harness/base/printable.h"
#include "harness/commands/command.h"
#include "harness/commands/interrupt.h"
#include "harness/commands/live_table.h"
#include "harness/commands/run_difference.h"
#include "harness/launch/origin.h"
#include "harness/run_dir/run_dir.h"
#include "harness/run_scenario.h"
#include "reports/words.h"

namespace rankfault {
namespace {

struct Options {
  std::string run, run_dir;
  bool here = false;
};

int fail(const Error& error) {
  fmt::print(stderr, "rankfault replay: {}\n", error.to_string());
  return exit_of(error);
}

// The fault-free run with which the run was compared: a part of it lies in the run's own directory.
std::string reference_in(const std::string& run) {
  const std::string reference = run + "/reference";
  return std::filesystem::exists(reference) ? reference : "";
}

// The job that `watch` observed is watched again. If that run ended it because it hung, the new one does the
// same.
Result<FinishedRun> repeat(const Plan& plan, const RunFacts& before, const std::string& run_dir,
                           RankDisplay& display, const std::atomic<int>* interrupted) {
  WatchOptions watch;
  watch.end_on_finding = before.teardown_reason == "decided";
  RunOptions with;
  with.run_dir = run_dir;
  with.reference_run = reference_in(before.run_dir);
  with.interrupted = interrupted;
  with.view = display.view();
  with.progress = display.progress();
  if (plan.scenario.name == "watch" && plan.scenario.file.empty()) with.watch = &watch;
  Result<FinishedRun> run = run_scenario(plan, with);
  display.erase();
  return run;
}

std::string absolute(const std::string& path) {
  std::error_code none;
  return path.empty() ? path : std::filesystem::absolute(path, none).string();
}

// Where the new run starts from, and what is not as it was, in lines for the user.
Status prepare(const std::string& run, const Plan& plan, bool here) {
  const Result<Origin> origin = read_origin(run);
  if (!origin && here) return Done{};
  if (!origin)
    return usage_error("this run does not say where it started from (" + origin.error().message +
                       "): --here repeats it in this directory and environment");
  if (!here) {
    if (const Status back = go_back_to(*origin); !back) return back.error();
    if (!origin->left_out.empty())
      fmt::print("  note    from this environment, because rankfault keeps no secrets: {}\n",
                 inert_text(fmt::format("{}", fmt::join(origin->left_out, " "))));
  }
  const Origin now = origin_of(plan.scenario.workload.command, plan.scenario.file);
  for (const std::string& line : changed_files(*origin, now)) fmt::print("  changed {}\n", inert_text(line));
  return Done{};
}

int replay(const Options& options) {
  const std::string run = absolute(options.run), run_dir = absolute(options.run_dir);
  if (run_state(run) == RunState::kLive) return fail(usage_error(printable(options.run) + " still runs"));
  const Result<Json> json = read_json(run + "/plan.json");
  if (!json)
    return fail(usage_error(fmt::format("{} is not a run that can be repeated: {}", printable(options.run),
                                        printable(json.error().message))));
  const Result<Plan> plan = plan_from_json(*json);
  if (!plan) return fail(plan.error());
  const Result<FinishedRun> before = judge_finished(run);
  if (!before) return fail(before.error());
  if (const Status ready = prepare(run, *plan, options.here); !ready) return fail(ready.error());
  RankDisplay display(true);
  const std::atomic<int>* interrupted = catch_interrupts();
  const Result<FinishedRun> now = repeat(*plan, *before->facts, run_dir, display, interrupted);
  if (*interrupted) return 128 + *interrupted;
  if (!now) return fail(now.error());
  fmt::print("{}", console_text({now->report}, {.colour = colour_on_output(), .screen = screen_of_output()}));
  const std::vector<std::string> differences = run_differences(before->report, now->report);
  for (const std::string& line : differences) fmt::print("  differs {}\n", inert_text(masked_text(line)));
  if (differences.empty()) fmt::print("  same    verdict, expectations, first cause and ends of ranks\n");
  return differences.empty() ? kExitPass : kExitFail;
}

const Registration<CliCommand> kReplay{{
    "replay",
    "Repeat a run exactly, and say where the new run differs",
    "Examples:\n  rankfault replay rankfault-runs/skip-allreduce.1\n"
    "  rankfault replay --here rankfault-runs/watch-20261127-191415\n\n"
    "replay takes the plan with all its choices, the command, the directory and the environment from the "
    "run.\n"
    "It says which of the files that the command names are not what they were, and continues.\n"
    "Exit status: 0 the same outcome, 1 it differs, 64 not a run that can be repeated, 77 skipped, 129, 130 "
    "and "
    "143\n"
    "when interrupted.",
    [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      app.add_option("run", options->run, "the run directory")->required();
      app.add_option("--run-dir", options->run_dir, "the directory of the new run");
      app.add_flag("--here", options->here, "keep the present directory and environment");
      return [options] { return replay(*options); };
    },
}};

}  // namespace
}  // namespace rankfault
