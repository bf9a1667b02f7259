// init: `rankfault init -- COMMAND`: runs a job once without faults, and writes a first scenario file for it.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>

#include "harness/base/mask.h"
#include "harness/base/printable.h"
#include "harness/commands/command.h"
#include "harness/commands/first_scenario.h"
#include "harness/commands/interrupt.h"
#include "harness/commands/job_command.h"
#include "harness/commands/live_table.h"
#include "harness/run_scenario.h"
#include "harness/scenario/scenario_parser.h"
#include "reports/story.h"
#include "reports/words.h"

namespace rankfault {
namespace {

struct Options {
  std::vector<std::string> words;
  int ranks = kRanksNotGiven;
  bool ranks_given = false;
  std::string out, name = "first", wall = "600s", runs;
};

int fail(const Error& error) {
  fmt::print(stderr, "rankfault init: {}\n", error.to_string());
  return exit_of(error);
}

Status check(const Options& options, const std::string& path) {
  if (options.words.empty()) return usage_error("the command is missing: write it after --");
  if (options.ranks_given && options.ranks < 1)
    return usage_error(fmt::format("--ranks must be at least 1, not {}", options.ranks));
  static const std::regex kName("[A-Za-z0-9_.-]{1,100}");
  if (!std::regex_match(options.name, kName))
    return usage_error("--name may have letters, digits, \"_\", \".\" and \"-\", at most 100");
  std::error_code none;
  if (std::filesystem::exists(path, none))
    return usage_error(printable(path) + " exists: name another file with --out");
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK) != 0)
    return errno_error("write to the folder of " + printable(path));
  return Done{};
}

// The run is an example of a good one only if the job ended by itself, with 0, and nothing was found.
Status is_good_example(const RunFacts& facts) {
  const std::string status = job_status(facts);
  if (status.empty())
    return usage_error(
        "rankfault ended the job at its limit: give --wall a longer one, or let the job make fewer steps");
  if (status != "exit 0")
    return usage_error(
        fmt::format("the job itself ended with {}; its output is in {}/logs", status, facts.run_dir));
  if (facts.findings.nothing_wrong()) return Done{};
  return usage_error("this run has a finding, so it is not an example of a good one:\n" +
                     masked_text(findings_text(facts.findings)));
}

// As `run` will run it: placeholders such as {store} are expanded.
Result<FinishedRun> run_once(const Scenario& scenario, const std::atomic<int>* interrupted) {
  const Result<Plan> plan = make_plan(scenario, {});
  if (!plan) return plan.error();
  RankDisplay display(true);
  display.set_limit(scenario.workload.limits.wall);
  RunOptions with;
  with.view = display.view();
  with.interrupted = interrupted;
  with.progress = display.progress();
  return run_scenario(*plan, with);
}

int init(const Options& options) {
  const std::string path = options.out.empty() ? options.name + ".yaml" : options.out;
  if (const Status may = check(options, path); !may) return fail(may.error());
  Result<Scenario> scenario = watched_scenario(options.words, options.ranks, options.wall);
  if (!scenario) return fail(scenario.error());
  scenario->name = options.name;
  if (!options.runs.empty()) ::setenv("RANKFAULT_RUNS", options.runs.c_str(), 1);
  const std::atomic<int>* interrupted = catch_interrupts();
  const Instant began = HostClock::now();
  const Result<FinishedRun> run = run_once(*scenario, interrupted);
  const double seconds = static_cast<double>((HostClock::now() - began).count()) / 1e9;
  if (*interrupted) return 128 + *interrupted;
  if (!run) return fail(run.error());
  if (const Status good = is_good_example(*run->facts); !good) return fail(good.error());
  const Result<std::string> text = first_scenario(*run->facts, options.name, seconds);
  if (!text) return fail(text.error());
  std::ofstream out(path, std::ios::trunc);
  out << *text << std::flush;
  if (!out) return fail(errno_error("write " + path));
  fmt::print("wrote {0}\n  next    rankfault run {0}\n", printable(path));
  return kExitPass;
}

const Registration<CliCommand> kInit{{
    "init",
    "Run a job once without faults, and write a first scenario file for it",
    "Examples:\n  rankfault init --ranks 4 -- ./my_program --steps=20\n"
    "  rankfault init --name kill-a-rank -- torchrun --nproc_per_node=2 train.py\n\n"
    "init reads the command as watch does. The file names the calls that the run made, and has one fault, "
    "what to\n"
    "expect of it, and more faults to try. Choose a run of some seconds: each run of the scenario takes as "
    "long.\n"
    "Exit status: 0 written, 64 usage, or the run is not an example of a good one, 70 internal,\n"
    "71 the machine refuses what a run needs, 77 the launcher is missing, 129, 130 and 143 when interrupted.",
    [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      app.add_option("command", options->words, "the job's command, after --");
      CLI::Option* ranks =
          app.add_option("--ranks", options->ranks, "start the program N times, as in watch");
      app.add_option("--name", options->name, "the name of the scenario (first)");
      app.add_option("--out", options->out, "the file (NAME.yaml); one that exists is left alone");
      app.add_option("--wall", options->wall, "end the run after so long (600s)");
      app.add_option("--runs", options->runs, "the folder of run directories");
      return [options, ranks] {
        options->ranks_given = ranks->count() > 0;
        return init(*options);
      };
    },
}};

}  // namespace
}  // namespace rankfault
