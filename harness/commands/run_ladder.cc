#include "harness/commands/run_ladder.h"

#include <fmt/format.h>

#include "harness/base/exit_code.h"
#include "harness/commands/ladder_output.h"

namespace rankfault {
namespace {

// Prints in full, before the table, only the runs whose exit code is not that of a pass.
void tell_as_they_end(SessionOptions& options) {
  const auto tell = options.finished;
  if (!tell) return;
  options.finished = [tell](const ScenarioOutcome& unit) {
    if (unit.report.exit_code != kExitPass) tell(unit);
  };
}

}  // namespace

Result<int> run_ladders(const std::vector<Scenario>& scenarios, const std::vector<int>& sizes,
                        SessionOptions options, bool as_json, SessionResult& all) {
  tell_as_they_end(options);
  std::vector<int> codes;
  Json ladders = Json::array();
  for (const Scenario& scenario : scenarios) {
    Result<LadderResult> ladder = run_ladder(scenario, sizes, run_scenario, options);
    if (!ladder) return ladder.error();
    const std::string title = scenario.file.empty() ? scenario.name : scenario.file;
    if (as_json) {
      Json json = to_json(*ladder);
      json["scenario"] = title;
      ladders.push_back(std::move(json));
    } else {
      fmt::print("{}\n{}", title, ladder_text(*ladder));
      std::fflush(stdout);
    }
    codes.push_back(ladder->exit_code);
    for (Rung& rung : ladder->rungs) {
      if (!rung.refused.empty()) rung.unit.report.skipped = rung.refused;
      rung.unit.report.file = scenario.file;
      rung.unit.report.scenario = fmt::format("{}, {} ranks", scenario.name, rung.ranks);
      all.units.push_back(std::move(rung.unit));
    }
    if (options.interrupted && *options.interrupted != 0) return codes.back();
  }
  if (as_json)
    fmt::print(
        "{}\n",
        (ladders.size() == 1 ? ladders[0] : ladders).dump(2, ' ', false, Json::error_handler_t::replace));
  return merged_exit_code(codes);
}

}  // namespace rankfault
