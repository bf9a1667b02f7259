#include "harness/commands/ladder_output.h"

#include <fmt/format.h>

#include "reports/words.h"

namespace rankfault {
namespace {

std::string outcome_of(const Rung& rung) {
  if (!rung.refused.empty()) return "refused";
  if (rung.unit.error) return "ERROR";
  return outcome_line(rung.unit.report);
}

std::string why(const Rung& rung) {
  if (!rung.refused.empty()) return rung.refused;
  if (rung.unit.error) return rung.unit.error->to_string();
  const RunReport& report = rung.unit.report;
  return report.skipped.empty() ? report.judgement.summary : report.skipped;
}

}  // namespace

std::string ladder_text(const LadderResult& ladder) {
  std::string out = "ranks  outcome  why\n";
  for (const Rung& rung : ladder.rungs)
    out += fmt::format("{:>5}  {:<7}  {}\n", rung.ranks, outcome_of(rung), why(rung));
  const Rung* first = ladder.first_failure();
  return out + (first ? fmt::format("fails first at {} rank{}\n", first->ranks, first->ranks == 1 ? "" : "s")
                      : "fails at none of these sizes\n");
}

Json to_json(const LadderResult& ladder) {
  Json rungs = Json::array();
  for (const Rung& rung : ladder.rungs) {
    Json row = {{"ranks", rung.ranks}, {"outcome", outcome_of(rung)}, {"why", why(rung)}};
    if (rung.unit.facts) {
      row["verdict"] = to_text(rung.unit.report.judgement.verdict);
      row["run"] = rung.unit.facts->run_dir;
    }
    rungs.push_back(std::move(row));
  }
  const Rung* first = ladder.first_failure();
  return {{"schema", "rankfault.ladder.v1"},
          {"first_failure", first ? Json(first->ranks) : Json()},
          {"rungs", std::move(rungs)}};
}

}  // namespace rankfault
