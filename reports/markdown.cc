// markdown: writes runs for the ticket of an incident: verdict, one sentence, the cause with both sides, what
// each rank did last, the evidence folded away, and how to repeat it.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/mask.h"
#include "harness/base/rank_words.h"
#include "reports/escape.h"
#include "reports/log_that_tells.h"
#include "reports/story.h"
#include "reports/words.h"

namespace rankfault {
namespace {

// A ticket holds 65,536 characters on GitHub.
constexpr size_t kMostRows = 20, kMostResults = 30, kMostEvidence = 24'000, kMostText = 2'000;

std::string text(const std::string& raw) { return markdown_text(cut_text(raw, kMostText)); }
std::string code(const std::string& raw) { return markdown_code(cut_text(raw, kMostText)); }

std::string head(const RunReport& report) {
  std::string out = fmt::format("### {}: {}\n\n", outcome_line(report), text(scenario_title(report)));
  if (const std::string notice = notice_line(report); !notice.empty()) out += text(notice) + "\n\n";
  return out + text(story_of(report)) + "\n";
}

std::string cause(const RunReport& report) {
  const Finding* finding = first_cause(report);
  if (!finding) return "";
  std::string out = fmt::format("\n**Cause**: {}\n", text(finding_line(*finding)));
  if (finding->sides.empty()) return out;
  out += "\n| side | call | line |\n|---|---|---|\n";
  for (size_t i = 0; i < finding->sides.size() && i < kMostRows; ++i) {
    const Side& side = finding->sides[i];
    out += fmt::format("| {} | {} | {} |\n", ranks_text(side.ranks), text(side.what), code(side.call_site));
  }
  if (finding->sides.size() > kMostRows)
    out += fmt::format("\n{} more sides are left out.\n", finding->sides.size() - kMostRows);
  return out;
}

const char* sign(Verdict verdict) {
  return verdict == Verdict::kPass ? "✓" : verdict == Verdict::kFail ? "✗" : "?";
}

// What did not hold comes first.
std::string expectations(const RunReport& report) {
  std::vector<ExpectationResult> results = report.judgement.expectations;
  std::stable_sort(results.begin(), results.end(),
                   [](const auto& a, const auto& b) { return a.verdict > b.verdict; });
  std::string out = results.empty() ? "" : "\n**Expectations**\n\n";
  for (size_t i = 0; i < results.size() && i < kMostResults; ++i)
    out +=
        fmt::format("- {} {}: {}\n", sign(results[i].verdict), code(results[i].id), text(results[i].because));
  if (results.size() > kMostResults)
    out += fmt::format("- {} more are left out\n", results.size() - kMostResults);
  return out;
}

// The ranks that the cause names come first.
std::string ranks(const RunReport& report) {
  if (!report.facts) return "";
  std::vector<RankRow> rows = rank_rows(*report.facts);
  if (rows.empty()) return "\nThe job has no rank.\n";
  if (const Finding* finding = first_cause(report))
    std::stable_partition(rows.begin(), rows.end(), [&](const RankRow& row) {
      return std::any_of(finding->ranks.begin(), finding->ranks.end(), [&](int rank) {
        return std::find(row.ranks.begin(), row.ranks.end(), rank) != row.ranks.end();
      });
    });
  std::string out = "\n| ranks | end | step | last call | state | line |\n|---|---|---|---|---|---|\n";
  size_t left_out = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const RankRow& row = rows[i];
    if (i >= kMostRows) left_out += row.ranks.size();
    if (i < kMostRows)
      out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", ranks_text(row.ranks), text(row.end), row.step,
                         text(row.call), row.state, code(row.where));
  }
  return left_out == 0 ? out : out + fmt::format("\n{} more ranks are left out.\n", left_out);
}

std::string assumptions(const Finding& finding) {
  std::string out;
  for (const Assumption& assumed : finding.assumes)
    out += fmt::format("  assumes {}: {}{}\n", assumed.name, assumed.holds ? "holds" : "not known to hold",
                       assumed.why.empty() ? "" : ", " + assumed.why);
  return out;
}

std::string evidence(const RunReport& report) {
  if (!report.facts) return "";
  const RunFacts& facts = *report.facts;
  std::string all = no_rank_text(facts) + findings_text(facts.findings);
  for (const Finding& finding : facts.findings.all) {
    if (finding.caused_by >= 0 || !names_trouble(finding)) continue;
    all += assumptions(finding);
    for (const std::string& line : finding.evidence) all += "  " + line + "\n";
  }
  all += evidence_text(facts.evidence) + (is_good(report) ? "" : log_that_tells(facts, all));
  if (all.empty()) return "";
  std::string shown = all;
  if (all.size() > kMostEvidence) {
    const size_t end = all.rfind('\n', kMostEvidence);
    shown = all.substr(0, end + 1);
    shown += fmt::format("... {} more lines\n",
                         std::count(all.begin() + static_cast<long>(end) + 1, all.end(), '\n'));
  }
  return "\n<details><summary>Evidence</summary>\n\n" + markdown_block(shown) + "\n</details>\n";
}

std::string variants(const RunReport& report) {
  if (!report.compared) return "";
  std::string out = "\n| variant | run | ranks | verdict | seconds | why |\n|---|---|---|---|---|---|\n";
  for (size_t i = 0; i < report.compared->rows.size() && i < kMostResults; ++i) {
    const VariantRow& row = report.compared->rows[i];
    out += fmt::format("| {} | {} | {} | {} | {:.1f} | {} |\n", code(row.id), row.n, row.ranks,
                       to_text(row.verdict), row.seconds, text(row.summary));
  }
  return out;
}

std::string tail(const RunReport& report) {
  std::string out;
  if (const std::string replay = replay_line(report); !replay.empty())
    out += fmt::format("\nReplay: {}\n", code(replay));
  if (report.facts && !report.facts->run_dir.empty())
    out += fmt::format("\nRun directory: {}\n", code(report.facts->run_dir));
  if (!report.cleanup.empty()) out += fmt::format("\nClean-up left: {}\n", text(report.cleanup));
  return out;
}

Result<std::string> write_markdown(const std::vector<RunReport>& reports) {
  std::string out;
  for (const RunReport& report : reports) {
    out += (out.empty() ? "" : "\n") + head(report);
    if (report.skipped.empty())
      out += cause(report) + variants(report) + expectations(report) + ranks(report) + evidence(report) +
             tail(report);
  }
  return out;
}

const Registration<Report> kMarkdown{
    {.name = "markdown",
     .summary = "For the ticket of an incident: verdict, cause, both sides, ranks, folded evidence, replay.",
     .write = write_markdown}};

}  // namespace
}  // namespace rankfault
