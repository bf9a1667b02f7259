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
#include "harness/commands/run_difference.h"
#include "harness/run_dir/origin.h"
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

Result<FinishedRun> repeat(const Plan& plan, const std::string& run_dir, bool watched) {
  WatchOptions watch;
  RunOptions with;
  with.run_dir = run_dir;
  with.reference_run = plan.reference_run;
  with.interrupted = catch_interrupts();
  with.progress = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  if (watched) with.watch = &watch;
  return run_scenario(plan, with);
}

std::string absolute(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).string();
}

int replay(const Options& options) {
  const std::string run = absolute(options.run), run_dir = absolute(options.run_dir);
  if (run_state(run) == RunState::kLive) return fail(usage_error(options.run + " still runs"));
  const Result<Json> json = read_json(run + "/plan.json");
  if (!json)
    return fail(
        usage_error(fmt::format("{} is no run that can be repeated: {}", options.run, json.error().message)));
  const Result<Plan> plan = plan_from_json(*json);
  if (!plan) return fail(plan.error());
  const Result<FinishedRun> before = judge_finished(run);
  if (!before) return fail(before.error());
  const Result<Origin> origin = read_origin(run);
  if (!origin) return fail(origin.error());
  if (!options.here) {
    const Result<std::vector<std::string>> masked = go_back_to(*origin);
    if (!masked) return fail(masked.error());
    if (!masked->empty())
      fmt::print("  note    from this environment, because rankfault keeps no secrets: {}\n",
                 inert_text(fmt::format("{}", fmt::join(*masked, " "))));
  }
  std::vector<std::string> differences =
      changed_files(*origin, origin_of(plan->scenario.workload.command, plan->scenario.file));
  for (const std::string& line : differences) fmt::print("  changed {}\n", inert_text(line));
  const bool watched = plan->scenario.name == "watch" && plan->scenario.file.empty();
  const Result<FinishedRun> now = repeat(*plan, run_dir, watched);
  if (!now) return fail(now.error());
  fmt::print("{}", console_text({now->report}, {.colour = colour_on_output(), .screen = screen_of_output()}));
  differences = run_differences(before->report, now->report);
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
    "It says which of the files that the command names are not what they were, and goes on.\n"
    "Exit status: 0 the same outcome, 1 it differs, 64 no run that can be repeated, 77 skipped, 129, 130 and "
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
