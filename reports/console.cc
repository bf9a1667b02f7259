// console: writes the report for people: the culprit first, then the faults, then each expectation with its
// reason. Names and output of a job are hostile: each part is made inert before the colours are added.
#include <fmt/format.h>

#include "harness/base/mask.h"
#include "harness/base/printable.h"
#include "reports/log_that_tells.h"
#include "reports/words.h"

namespace rankfault {
namespace {

class Console {
 public:
  explicit Console(bool colour) : colour_(colour) {}

  void run(const RunReport& report) {
    if (const std::string notice = notice_line(report); !notice.empty()) line("{}", notice);
    const char* shade = !report.skipped.empty() ? "33" : is_good(report) ? "32" : "31";
    painted("", outcome_line(report), shade, "  " + scenario_title(report));
    if (!report.skipped.empty()) return line("  {}", report.skipped);
    if (const std::string replay = replay_line(report); !replay.empty() && !is_good(report))
      line("  replay  {}", replay);
    if (report.facts) text_ += no_rank_text(*report.facts);
    if (report.facts) text_ += findings_text(report.facts->findings) + evidence_text(report.facts->evidence);
    if (report.facts && !is_good(report)) text_ += inert_text(log_that_tells(*report.facts, text_));
    if (report.compared)
      for (const VariantRow& row : report.compared->rows) variant(row);
    for (const FaultResult& fault : report.judgement.faults)
      line("  fault   {} {}: {}", fault.verified ? "✓" : "?", fault.id,
           fault.how.empty() ? (fault.fired ? "fired" : "did not fire") : fault.how);
    for (const ExpectationResult& result : report.judgement.expectations) expectation(result);
    if (report.judgement.expectations.empty()) line("  ?       {}", report.judgement.summary);
    if (report.facts)
      for (const std::string& lost : losses_of(*report.facts)) line("  kept    {}", lost);
    for (const std::string& what : report.lost) line("  lost    {}", what);
    if (!report.cleanup.empty()) line("  left    {}", report.cleanup);
    if (report.facts) text_ += python_notes(*report.facts) + left_behind_text(report.facts->left_behind);
    if (report.compared && !report.compared->dir.empty()) line("  runs    {}", report.compared->dir);
    if (report.facts && !report.facts->run_dir.empty()) line("  run     {}", report.facts->run_dir);
  }

  void total(const std::vector<RunReport>& reports) {
    size_t good = 0, skipped = 0;
    for (const RunReport& report : reports) {
      skipped += !report.skipped.empty();
      good += report.skipped.empty() && is_good(report);
    }
    line("{} of {} as expected{}", good, reports.size() - skipped,
         skipped ? fmt::format(", {} skipped", skipped) : "");
  }

  std::string take() { return std::move(text_); }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += inert_text(fmt::format(format, std::forward<Args>(args)...)) + "\n";
  }

  // A line with one word in colour.
  void painted(const char* before, const std::string& word, const char* shade, const std::string& behind) {
    text_ += before + (colour_ ? fmt::format("\x1b[1;{}m{}\x1b[0m", shade, word) : word) +
             inert_text(behind) + "\n";
  }

  void variant(const VariantRow& row) {
    line("  variant {:<18} {} rank{}, {:.1f} s, {}: {}", fmt::format("{}.{}", row.id, row.n), row.ranks,
         row.ranks == 1 ? "" : "s", row.seconds, to_text(row.verdict), row.summary);
  }

  void expectation(const ExpectationResult& result) {
    const char* sign = result.verdict == Verdict::kPass ? "✓" : result.verdict == Verdict::kFail ? "✗" : "?";
    const char* shade = result.verdict == Verdict::kPass   ? "32"
                        : result.verdict == Verdict::kFail ? "31"
                                                           : "33";
    painted("  ", sign, shade, fmt::format(" {:<18} {}", result.id, result.because));
  }

  bool colour_;
  std::string text_;
};

Result<std::string> write_console(const std::vector<RunReport>& reports) {
  return console_text(reports, false);
}

const Registration<Report> kConsole{{.name = "console",
                                     .summary = "Text for people: culprit, faults, expectations.",
                                     .write = write_console}};

}  // namespace

std::string console_text(const std::vector<RunReport>& reports, bool colour) {
  std::string out;
  for (const RunReport& report : reports) {  // each by itself: the mask may hide the word after a secret name
    Console console(colour);
    console.run(report);
    out += masked_text(console.take());
  }
  Console console(colour);
  if (reports.size() > 1) console.total(reports);
  return out + console.take();
}

}  // namespace rankfault
