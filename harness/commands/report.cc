// rankfault report: prints finished runs in one of the report formats.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "harness/commands/command.h"
#include "harness/session/session.h"

namespace rankfault {
namespace {

int fail(const Error& error) {
  fmt::print(stderr, "{}\n", error.to_string());
  return exit_of(error);
}

int report_runs(const std::vector<std::string>& run_dirs, const std::string& format) {
  const auto& formats = Catalog<Report>::instance();
  const Report* report = formats.find(format);
  if (!report)
    return fail(usage_error(fmt::format("unknown report \"{}\"{}", format, formats.did_you_mean(format))));
  std::vector<FinishedRun> runs;
  std::vector<RunReport> reports;
  for (const std::string& dir : run_dirs) {
    Result<FinishedRun> run = judge_run(dir);
    if (!run) return fail(run.error());
    runs.push_back(std::move(*run));
    reports.push_back(runs.back().report);
  }
  const Result<std::string> text = report->write(reports);
  if (!text) return fail(text.error());
  fmt::print("{}", *text);
  return kExitPass;
}

const Registration<CliCommand> kReport{{
    "report",
    "Report finished runs in one of several formats",
    "  rankfault report rankfault-runs/skip-allreduce.1\n"
    "  rankfault report --format junit rankfault-runs/* > out.xml\n"
    "  rankfault report --format outcomes rankfault-runs/* >> outcomes.md\n\n"
    "Exit status: 0, or 64 when a directory is not a run.",
    [](CLI::App& app) {
      auto run_dirs = std::make_shared<std::vector<std::string>>();
      auto format = std::make_shared<std::string>("console");
      app.add_option("runs", *run_dirs, "run directories")->required();
      std::vector<std::string> known;
      for (const Report* report : Catalog<Report>::instance().all()) known.emplace_back(report->name);
      app.add_option("--format", *format, fmt::format("format: {}", fmt::join(known, ", ")));
      return [run_dirs, format] { return report_runs(*run_dirs, *format); };
    },
}};

}  // namespace
}  // namespace rankfault
