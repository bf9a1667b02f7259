// init: `rankfault init -- COMMAND`: runs a job once without faults, and writes a first scenario file for it.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "harness/base/mask.h"
#include "harness/commands/command.h"
#include "harness/commands/first_scenario.h"
#include "harness/commands/interrupt.h"
#include "harness/commands/job_command.h"
#include "harness/run_scenario.h"
#include "harness/scenario/scenario_parser.h"
#include "reports/words.h"

namespace rankfault {
namespace {

struct Options {
  std::vector<std::string> words;
  int ranks = kRanksNotGiven;
  std::string out, name = "first", wall = "600s", runs;
};

int fail(const Error& error) {
  fmt::print(stderr, "rankfault init: {}\n", error.to_string());
  return exit_of(error);
}

int init(const Options& options) {
  const std::string path = options.out.empty() ? options.name + ".yaml" : options.out;
  if (std::filesystem::exists(path)) return fail(usage_error(path + " exists: name another file with --out"));
  const Result<Scenario> scenario = watched_scenario(options.words, options.ranks, options.wall);
  if (!scenario) return fail(scenario.error());
  const Result<Plan> plan = make_plan(*scenario, {});
  if (!plan) return fail(plan.error());
  if (!options.runs.empty()) ::setenv("RANKFAULT_RUNS", options.runs.c_str(), 1);
  const WatchOptions watch;
  RunOptions with;
  with.watch = &watch;
  with.interrupted = catch_interrupts();
  with.progress = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  const Instant began = HostClock::now();
  const Result<FinishedRun> run = run_scenario(*plan, with);
  const double seconds = static_cast<double>((HostClock::now() - began).count()) / 1e9;
  if (!run) return fail(run.error());
  if (*with.interrupted) return 128 + *with.interrupted;
  if (!run->facts->findings.nothing_wrong()) {
    fmt::print(stderr, "rankfault init: this run has a finding, so it is no example of a good one:\n{}",
               masked_text(findings_text(run->facts->findings)));
    return kExitFail;
  }
  const Result<std::string> text = first_scenario(*run->facts, options.name, seconds);
  if (!text) return fail(text.error());
  std::ofstream out(path, std::ios::trunc);
  out << *text << std::flush;
  if (!out) return fail(errno_error("write " + path));
  fmt::print("wrote {}\n  next    rankfault run {}\n", path, path);
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
    "Exit status: 0 written, 1 the run itself has a finding, 64 usage, or no call was recorded, 70 "
    "internal,\n"
    "71 the machine refuses what a run needs, 77 the launcher is missing, 129, 130 and 143 when interrupted.",
    [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      app.add_option("command", options->words, "the job's command, after --");
      app.add_option("--ranks", options->ranks, "start the program N times, as in watch");
      app.add_option("--name", options->name, "the name of the scenario (first)");
      app.add_option("--out", options->out, "the file (NAME.yaml); one that exists is left alone");
      app.add_option("--wall", options->wall, "end the run after so long (600s)");
      app.add_option("--runs", options->runs, "the folder of run directories");
      return [options] { return init(*options); };
    },
}};

}  // namespace
}  // namespace rankfault
