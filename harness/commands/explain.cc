// rankfault explain: explains the verdict of a run: for each expectation that does not hold, it prints the
// journal lines that decide it.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "harness/commands/command.h"
#include "harness/session/session.h"
#include "reports/log_that_tells.h"
#include "reports/words.h"

namespace rankfault {
namespace {

constexpr size_t kLongLine = 400;

std::string shortened(const JournalLine& line) {
  Json shown = to_json(line);
  if (shown.contains("state")) shown["state"] = "...";
  std::string text = shown.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kLongLine) text = text.substr(0, kLongLine) + " ...";
  return text;
}

void print_lines(const RunFacts& facts, const std::vector<uint64_t>& numbers) {
  for (const JournalLine& line : facts.journal)
    if (std::find(numbers.begin(), numbers.end(), line.n) != numbers.end())
      fmt::print("    {}\n", shortened(line));
}

int explain(const std::string& run_dir, bool all) {
  const Result<FinishedRun> run = judge_run(run_dir);
  if (!run) {
    fmt::print(stderr, "{}\n", run.error().to_string());
    return exit_of(run.error());
  }
  const RunReport& report = run->report;
  fmt::print("{}  {}\n", outcome_line(report), scenario_title(report));
  for (const FaultResult& fault : report.judgement.faults)
    if (all || !fault.verified) fmt::print("fault {}: {}\n", fault.id, fault.how);
  for (const ExpectationResult& result : report.judgement.expectations) {
    if (result.verdict == Verdict::kPass && !all) continue;
    fmt::print("{} {}: {}\n", to_text(result.verdict), result.id, result.because);
    if (run->facts) print_lines(*run->facts, result.journal);
  }
  if (report.compared)
    for (const VariantRow& row : report.compared->rows)
      fmt::print("{}.{} is a run of its own: rankfault explain {}/{}.{}\n", row.id, row.n, run_dir, row.id,
                 row.n);
  if (!run->facts) return kExitPass;
  fmt::print("{}", no_rank_text(*run->facts));
  if (!is_good(report)) fmt::print("{}", log_that_tells(*run->facts, ""));
  for (const Finding& finding : run->facts->findings.all) {
    fmt::print("found {}\n", finding_line(finding));
    for (const std::string& line : finding.evidence) fmt::print("    {}\n", line);
    for (const Assumption& assumption : finding.assumes)
      if (!assumption.holds) fmt::print("    not proven: {}: {}\n", assumption.name, assumption.why);
  }
  fmt::print("{}{}", unsafe_text(run->facts->findings), remarks_text(run->facts->findings));
  return kExitPass;
}

const Registration<CliCommand> kExplain{{
    "explain",
    "Explain a run's verdict by the journal lines that decide it",
    "  rankfault explain rankfault-runs/skip-allreduce.1\n\n"
    "Exit status: 0, or 64 when the directory is not a run.",
    [](CLI::App& app) {
      auto run_dir = std::make_shared<std::string>();
      auto all = std::make_shared<bool>(false);
      app.add_option("run", *run_dir, "a run directory")->required();
      app.add_flag("--all", *all, "also print what holds");
      return [run_dir, all] { return explain(*run_dir, *all); };
    },
}};

}  // namespace
}  // namespace rankfault
