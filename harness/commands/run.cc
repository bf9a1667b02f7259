// rankfault run: runs scenarios from files, or one from the command line, and prints their verdicts.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>

#include "harness/commands/command.h"
#include "harness/commands/github_output.h"
#include "harness/commands/interrupt.h"
#include "harness/commands/live_table.h"
#include "harness/commands/run_arguments.h"
#include "harness/commands/run_ladder.h"
#include "harness/commands/run_output.h"
#include "harness/commands/scenario_files.h"
#include "harness/commands/select.h"
#include "harness/scenario/scenario_parser.h"
#include "harness/session/session.h"

namespace rankfault {
namespace {

struct Options {
  WhatToRun what;
  std::string filter, runs, run_dir, junit, keep = "all";
  int jobs = 1;
  bool teeth = false, json = false, no_agent = false, github = false, verbose = false;
};

Status write_junit(const std::string& path, const SessionResult& result) {
  std::ofstream out(path, std::ios::trunc);
  const Result<std::string> text = report_text("junit", result);
  if (!text) return text.error();
  out << *text << std::flush;
  return out ? Status(Done{}) : errno_error("write " + path);
}

// What --junit and --github ask for.
Status write_reports(const Options& options, const SessionResult& result) {
  if (!options.junit.empty())
    if (Status written = write_junit(options.junit, result); !written) return written;
  return options.github ? write_for_github(result) : Status(Done{});
}

// Reports each error as a test case that could not be run: without a report, a CI server shows nothing.
SessionResult as_result(const std::vector<Error>& errors) {
  SessionResult result;
  for (const Error& error : errors) {
    ScenarioOutcome unit;
    unit.report.file = error.where.file;
    unit.report.scenario = error.where.file.empty() ? "rankfault run" : error.where.to_string();
    unit.report.where = error.where;
    unit.error = error;
    result.units.push_back(std::move(unit));
  }
  return result;
}

// Reports a failed write on the console. rankfault does not write the file again.
int end_without_report(const Error& error) {
  fmt::print(stderr, "{}\n", error.to_string());
  return exit_of(error);
}

// Prints the last error; the caller has printed those before it.
int end_with(const Options& options, const std::vector<Error>& errors) {
  fmt::print(stderr, "{}\n", errors.back().to_string());
  if (const Status written = write_reports(options, as_result(errors)); !written)
    fmt::print(stderr, "{}\n", written.error().to_string());
  return exit_of(errors.back());
}

int end_with(const Options& options, const Error& error) {
  return end_with(options, std::vector<Error>{error});
}

Result<std::vector<Scenario>> from_command_line(const Options& options, std::vector<Error>& all) {
  ParsedScenario parsed = options.what.from_one_line();
  print_warnings(parsed);
  if (const auto errors = options.what.mistakes_of(parsed); !errors.empty())
    return print_all_but_last(all = errors);
  return std::vector<Scenario>{std::move(parsed.scenario)};
}

// Checks all files before anything starts, and prints every mistake.
Result<std::vector<Scenario>> from_files(const Options& options, std::vector<Error>& all) {
  if (options.what.words.empty())
    return usage_error("name scenario files or directories, or a command after --");
  const Result<std::vector<std::string>> files = find_scenario_files(options.what.words);
  if (!files) return files.error();
  std::vector<Error> errors;
  std::vector<Scenario> scenarios;
  for (const std::string& file : *files) {
    std::vector<Error> mistakes = check_scenario_file(file);
    if (mistakes.empty()) {
      Result<Scenario> scenario = load_scenario(file);
      if (scenario)
        scenarios.push_back(std::move(*scenario));
      else
        mistakes.push_back(scenario.error());
    }
    errors.insert(errors.end(), mistakes.begin(), mistakes.end());
  }
  if (!errors.empty()) return print_all_but_last(all = errors);
  if (options.filter.empty()) return scenarios;
  const Result<Selection> selection = Selection::parse(options.filter);
  if (!selection) return selection.error();
  std::erase_if(scenarios, [&](const Scenario& s) { return !selection->matches(s.file + " " + s.name); });
  if (scenarios.empty())
    return usage_error(fmt::format("-k \"{}\" selects none of the scenarios", options.filter));
  return scenarios;
}

Status read_settings(const Options& in, SessionOptions& out) {
  if (Status read = in.what.read_changes(out.set, out.seed); !read) return read;
  if (in.keep == "failed")
    out.keep = Keep::kFailed;
  else if (in.keep == "none")
    out.keep = Keep::kNone;
  else if (in.keep != "all")
    return usage_error(fmt::format("--keep must be failed, all or none, not \"{}\"", in.keep));
  if (in.jobs < 1) return usage_error("--jobs must be at least 1");
  out.jobs = in.jobs;
  out.nccl = in.what.nccl;
  out.teeth = in.teeth;
  out.with_agent = !in.no_agent;
  out.can_start = [with_agent = out.with_agent](const Plan& plan) { return can_start(plan, with_agent); };
  out.run_dir = in.run_dir;
  if (!in.runs.empty()) ::setenv("RANKFAULT_RUNS", in.runs.c_str(), 1);
  return Done{};
}

int climb(const Options& in, const std::vector<Scenario>& scenarios, const SessionOptions& options) {
  const Result<std::vector<int>> sizes = in.what.sizes();
  if (!sizes) return end_with(in, sizes.error());
  SessionResult all;
  const Result<int> code = run_ladders(scenarios, *sizes, options, in.json, all);
  if (!code) return end_with(in, code.error());
  if (Status written = write_reports(in, all); !written) return end_without_report(written.error());
  return *code;
}

int run_all(const Options& in) {
  SessionOptions options;
  if (in.github && in.json)
    return end_without_report(usage_error("--github and --json both write to standard output: choose one"));
  if (Status read = read_settings(in, options); !read) return end_with(in, read.error());
  std::vector<Error> mistakes;
  const Result<std::vector<Scenario>> scenarios =
      in.what.is_one_line() ? from_command_line(in, mistakes) : from_files(in, mistakes);
  if (!scenarios) return mistakes.empty() ? end_with(in, scenarios.error()) : end_with(in, mistakes);
  if (!options.run_dir.empty() && (scenarios->size() != 1 || options.teeth || in.what.is_ladder()))
    return end_with(in, usage_error("--run-dir is for a single run; use --runs DIR for several"));
  if (options.teeth && in.what.is_ladder())
    return end_with(in, usage_error("--teeth runs at one size only: --ranks must not be a list"));
  // The exit code of one scenario named on the command line is its verdict. With a directory, a filter or
  // several scenarios it is the outcome.
  options.by_verdict =
      scenarios->size() == 1 && in.filter.empty() && !options.teeth &&
      (in.what.is_one_line() || (in.what.words.size() == 1 && (*scenarios)[0].file == in.what.words[0]));
  if (!in.junit.empty() && !std::ofstream(in.junit, std::ios::app))
    return end_without_report(errno_error("write " + in.junit));
  options.interrupted = catch_interrupts();
  ConsoleStyle style{.colour = colour_on_output()};
  if (!in.verbose) style.screen = screen_of_output();
  RankDisplay display(!in.json && in.jobs == 1);
  if (!in.json) {
    options.progress = display.progress();
    options.finished = [&](const ScenarioOutcome& unit) {
      display.erase();
      if (in.teeth && scenarios->size() > 1 && !unit.report.skipped.empty()) return;  // the totals count them
      fmt::print("{}", unit_text(unit, style));
      std::fflush(stdout);
    };
  }
  if (in.what.is_ladder()) return climb(in, *scenarios, options);
  const RunFunction run = [&](const Plan& plan, RunOptions with) {
    display.set_limit(plan.scenario.workload.limits.wall);
    if (in.jobs == 1) with.view = display.view();
    return run_scenario(plan, with);
  };
  const Result<SessionResult> result = run_session(*scenarios, run, options);
  display.erase();
  if (!result) return end_with(in, result.error());
  if (in.json) {
    const Result<std::string> text = report_text("json", *result);
    if (!text) return end_with(in, text.error());
    fmt::print("{}", *text);
  } else if (result->units.size() > 1) {
    fmt::print("{}", totals_text(*result));
  }
  if (Status written = write_reports(in, *result); !written) return end_without_report(written.error());
  return result->exit_code;
}

const Registration<CliCommand> kRun{{
    "run",
    "Run scenarios, and judge what the job did about the faults",
    "  rankfault run scenarios/crash/kill-rank.yaml\n"
    "  rankfault run scenarios -k 'hang and not mpi' --jobs 4 --junit out.xml\n"
    "  rankfault run scenarios --teeth\n"
    "  rankfault run scenarios --github --junit out.xml\n"
    "  rankfault run --ranks 1,2,4,8 scenarios/hang/uneven-batches.yaml\n"
    "  rankfault run --ranks 4 --fault rank_kill@rank=2,op=all_reduce,nth=3 -- ./my_program\n\n"
    "Exit status: 0 pass, 1 fail, 2 unknown or void, 3 cleanup incomplete, 64 wrong scenario or usage,\n"
    "or a launcher that failed before any rank was recorded (one file alone),\n"
    "70 internal, 71 the machine refuses what a run needs, 77 skipped, 129, 130 and 143 when interrupted.\n"
    "For one file the status is its verdict, for several the outcome.",
    [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      options->what.add_to(app);
      app.add_flag("--teeth", options->teeth,
                   "run the mutation checks (key teeth): with one defence off, the scenario must fail");
      app.add_option("-k", options->filter,
                     "run only scenarios whose file or name matches: 'hang and not mpi'");
      app.add_option("--jobs", options->jobs, "how many local jobs may run at the same time");
      app.add_option("--keep", options->keep,
                     "which run directories to keep: failed, all (the default) or none");
      app.add_option("--runs", options->runs, "the folder of run directories");
      app.add_option("--run-dir", options->run_dir, "the directory of a single run");
      app.add_option("--junit", options->junit, "write JUnit XML to this file");
      app.add_flag("--github", options->github,
                   "for GitHub Actions: print annotations, and append a summary to $GITHUB_STEP_SUMMARY");
      app.add_flag("-v,--verbose", options->verbose,
                   "print all details, also what does not fit on one screen");
      app.add_flag_callback(
          "--no-realtime", [] { ::setenv("RANKFAULT_NO_REALTIME", "1", 1); },
          "do not use real-time priority, even where it is allowed");
      app.add_flag("--json", options->json, "print the results as JSON");
      app.add_flag("--no-agent", options->no_agent, "run without the agent: record and inject nothing");
      return [options] { return run_all(*options); };
    },
}};

}  // namespace
}  // namespace rankfault
