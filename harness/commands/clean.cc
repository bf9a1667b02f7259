// clean: `rankfault clean`: cleans up what killed runs left on this host.
#include <fmt/format.h>

#include "harness/commands/command.h"
#include "harness/launch/clean_run.h"

namespace rankfault {
namespace {

int clean(const std::vector<std::string>& runs) {
  int status = kExitPass;
  for (const std::string& run : runs) {
    const Result<CleanReport> report = clean_run(run);
    if (!report.ok()) {
      fmt::print(stderr, "rankfault clean: {}\n", report.error().to_string());
      status = report.error().kind == ErrorKind::kRefused ? kExitCleanupIncomplete : kExitUsage;
      continue;
    }
    for (const std::string& line : report->failed) fmt::print(stderr, "{}: {}\n", run, line);
    for (const std::string& path : report->left) fmt::print("{}: left behind, not removed: {}\n", run, path);
    if (!report->failed.empty()) status = status == kExitPass ? kExitCleanupIncomplete : status;
    if (report->ended == 0 && report->undone == 0 && report->failed.empty())
      fmt::print("{}: nothing to do\n", run);
    else
      fmt::print("{}: {} processes ended, {} entries undone\n", run, report->ended, report->undone);
  }
  return status;
}

const Registration<CliCommand> registration{{
    .name = "clean",
    .summary = "End and remove what a killed run left on this host",
    .examples =
        "Examples:\n  rankfault clean rankfault-runs/skip-allreduce-20261121-114501\n\n"
        "clean touches only processes that carry the run in their environment, and segments and sockets\n"
        "with a recorded device and inode. It names other files of the job and leaves them. It refuses a\n"
        "live run (64), and names what it could not undo (3).",
    .setup =
        [](CLI::App& app) {
          auto runs = std::make_shared<std::vector<std::string>>();
          app.add_option("runs", *runs, "run directories")->required();
          return [runs] { return clean(*runs); };
        },
}};

}  // namespace
}  // namespace rankfault
