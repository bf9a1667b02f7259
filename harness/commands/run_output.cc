#include "harness/commands/run_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>

#include "harness/base/mask.h"
#include "harness/base/printable.h"
#include "harness/session/workers.h"
#include "reports/words.h"

namespace rankfault {
namespace {

std::string corner(const std::string& verdict) { return verdict.empty() ? "-" : verdict; }

std::string tooth_text(const MutationRow& row, bool colour) {
  const std::string word = row.bites ? "DETECTED" : "NOT DETECTED";
  RunReport of;
  of.cuda_double = row.cuda_double;
  const std::string notice = notice_line(of);
  std::string behind = fmt::format(
      "  {}  mutation {}\n"
      "  on: {} without the fault, {} with it;  off: {} without, {} with it\n"
      "  {}: {}\n",
      row.scenario, row.tooth, corner(row.on_quiet), corner(row.on_fault), corner(row.off_quiet),
      corner(row.off_fault), row.must_fail, row.why);
  if (!row.also_failed.empty())
    behind += fmt::format("  also failed: {}\n", fmt::join(row.also_failed, ", "));
  return (notice.empty() ? "" : notice + "\n") +
         painted(word, row.bites ? Shade::kGood : Shade::kBad, colour) + inert_text(behind);
}

bool has_teeth(const SessionResult& result) {
  return std::any_of(result.units.begin(), result.units.end(),
                     [](const auto& u) { return !u.teeth.empty(); });
}

// "NCCL over a double of CUDA: 2.29.7 in 18, 2.22.3 in 3"; "": no scenario used it.
std::string double_totals(const SessionResult& result) {
  std::map<std::string, int, std::greater<>> count;
  for (const ScenarioOutcome& unit : result.units) {
    const std::string nccl = unit.teeth.empty() ? unit.report.cuda_double : unit.teeth.front().cuda_double;
    if (!nccl.empty()) ++count[nccl];
  }
  std::string out;
  for (const auto& [nccl, n] : count)
    out += fmt::format("{}{} in {}", out.empty() ? "NCCL over a double of CUDA: " : ", ", nccl, n);
  return out.empty() ? "" : out + "\n";
}

// "72 scenarios: 92 of 92 mutations detected; 16 without mutation checks; 1 skipped"
std::string teeth_totals(const SessionResult& result) {
  size_t scenarios = 0, killed = 0, planted = 0, none = 0, skipped = 0, errors = 0;
  for (const ScenarioOutcome& unit : result.units) {
    errors += unit.error.has_value();
    none += unit.report.skipped == kNoTeeth;
    skipped += !unit.report.skipped.empty() && unit.report.skipped != kNoTeeth;
    scenarios += !unit.teeth.empty();
    planted += unit.teeth.size();
    for (const MutationRow& row : unit.teeth) killed += row.bites;
  }
  std::string out = fmt::format("{} scenario{}: {} of {} mutations detected", scenarios,
                                scenarios == 1 ? "" : "s", killed, planted);
  if (none) out += fmt::format("; {} without mutation checks", none);
  if (skipped) out += fmt::format("; {} skipped", skipped);
  if (errors) out += fmt::format("; {} could not be run", errors);
  return out + "\n" + double_totals(result);
}

// A scenario that could not be run has its error as the summary.
RunReport run_report(const ScenarioOutcome& unit) {
  RunReport report = unit.report;
  report.facts = unit.facts.get();
  if (unit.error) {
    report.judgement = {};
    report.judgement.summary = unit.error->to_string();
  }
  return report;
}

RunReport tooth_report(const ScenarioOutcome& unit, const MutationRow& row) {
  RunReport report;
  report.scenario = "mutation " + row.tooth;
  report.file = unit.report.file;
  report.judgement.verdict = row.bites ? Verdict::kPass : Verdict::kFail;
  report.judgement.as_it_must_be = row.bites;
  report.judgement.summary = row.bites ? row.why : "the mutation was not detected: " + row.why;
  report.cuda_double = row.cuda_double;
  report.seconds = row.seconds;
  report.judgement.expectations.push_back(
      {report.scenario, "", report.judgement.verdict, report.judgement.summary, {}});
  return report;
}

// Reports each mutation check as a run that passes when the mutation is detected. If the checks of a scenario
// did not run, the scenario itself is reported, so it does not pass. A scenario without checks is left out.
std::vector<RunReport> tooth_reports(const SessionResult& result) {
  std::vector<RunReport> out;
  for (const ScenarioOutcome& unit : result.units) {
    if (unit.teeth.empty() && unit.report.skipped != kNoTeeth) out.push_back(run_report(unit));
    for (const MutationRow& row : unit.teeth) out.push_back(tooth_report(unit, row));
  }
  return out;
}

std::vector<RunReport> run_reports(const SessionResult& result) {
  std::vector<RunReport> out;
  for (const ScenarioOutcome& unit : result.units) out.push_back(run_report(unit));
  return out;
}

}  // namespace

std::string unit_text(const ScenarioOutcome& unit, const ConsoleStyle& style) {
  if (unit.error)
    return inert_text(
        masked_text(fmt::format("ERROR  {}\n  {}\n", scenario_title(unit.report), unit.error->to_string())));
  if (unit.teeth.empty()) return console_text({unit.report}, style);
  std::string out;
  for (const MutationRow& row : unit.teeth) out += tooth_text(row, style.colour);
  return masked_text(out);
}

std::string totals_text(const SessionResult& result) {
  if (has_teeth(result)) return teeth_totals(result);
  size_t good = 0, skipped = 0, errors = 0;
  for (const ScenarioOutcome& unit : result.units) {
    errors += unit.error.has_value();
    skipped += !unit.report.skipped.empty();
    good += !unit.error && unit.report.skipped.empty() && unit.report.judgement.as_it_must_be;
  }
  std::string out = fmt::format("{} of {} as expected", good, result.units.size() - skipped);
  if (skipped) out += fmt::format(", {} skipped", skipped);
  if (errors) out += fmt::format(", {} could not be run", errors);
  return out + "\n" + double_totals(result);
}

Result<std::string> report_text(const std::string& format, const SessionResult& result) {
  if (format == "json" && has_teeth(result)) {
    Json rows = Json::array();
    for (const ScenarioOutcome& unit : result.units)
      for (const MutationRow& row : unit.teeth) rows.push_back(to_json(row));
    return masked({{"schema", "rankfault.teeth.v1"}, {"teeth", rows}})
               .dump(2, ' ', false, Json::error_handler_t::replace) +
           "\n";
  }
  const Report* report = Catalog<Report>::instance().find(format);
  if (!report) return usage_error(fmt::format("unknown report \"{}\"", format));
  return report->write(has_teeth(result) ? tooth_reports(result) : run_reports(result));
}

}  // namespace rankfault
