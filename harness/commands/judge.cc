// rankfault judge: judges a finished run again, from its directory (or a copy of it) alone.
#include <fmt/format.h>

#include <memory>

#include "harness/commands/command.h"
#include "harness/judge/oracle.h"
#include "harness/session/session.h"
#include "reports/words.h"

namespace rankfault {
namespace {

int judge_one(const std::string& run_dir, bool json) {
  Result<FinishedRun> run = judge_run(run_dir);
  if (!run) {
    fmt::print(stderr, "{}\n", run.error().to_string());
    return exit_of(run.error());
  }
  if (json)
    fmt::print("{}\n", result_json(run->report).dump(2, ' ', false, Json::error_handler_t::replace));
  else
    fmt::print("{}", console_text({run->report}, {.colour = colour_on_output()}));
  if (!run->report.cleanup.empty()) return kExitCleanupIncomplete;
  return exit_of_verdict(run->report.judgement);
}

const Registration<CliCommand> kJudge{{
    "judge",
    "Judge a finished run again, from its directory alone",
    "  rankfault judge rankfault-runs/skip-allreduce.1\n"
    "  rankfault judge --json copied-run\n\n"
    "Exit status: the same as of run.",
    [](CLI::App& app) {
      auto run_dir = std::make_shared<std::string>();
      auto json = std::make_shared<bool>(false);
      app.add_option("run", *run_dir, "a run directory, or a copy of one")->required();
      app.add_flag("--json", *json, "print result.json");
      return [run_dir, json] { return judge_one(*run_dir, *json); };
    },
}};

}  // namespace
}  // namespace rankfault
