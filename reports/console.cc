// console: writes the report for people: the culprit first, then the faults, then each expectation with its
// reason. Names and output of a job are hostile: each part is made inert before the colours are added.
#include <fmt/color.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdlib>

#include "harness/base/mask.h"
#include "harness/base/printable.h"
#include "reports/log_that_tells.h"
#include "reports/words.h"

namespace rankfault {
namespace {

// What is shortened first if a report does not fit on the screen.
enum Order : int { kStacks, kLog, kPassed, kFaults, kFindings };

template <typename... Args>
std::string line(fmt::format_string<Args...> format, Args&&... args) {
  return inert_text(fmt::format(format, std::forward<Args>(args)...)) + "\n";
}

Shade shade_of(Verdict verdict) {
  return verdict == Verdict::kPass ? Shade::kGood : verdict == Verdict::kFail ? Shade::kBad : Shade::kUnsure;
}

class Console {
 public:
  explicit Console(const ConsoleStyle& style) : style_(style) {}

  std::string run(const RunReport& report) {
    head(report);
    if (report.skipped.empty()) body(report);
    std::vector<TextPart> parts;
    for (TextPart& part : parts_) {  // each by itself: the mask may hide the word after a secret name
      part.whole = masked_text(part.whole);
      part.brief = masked_text(part.brief);
      parts.push_back(part);
    }
    FittedText fitted = fit_on(style_.screen, parts);
    if (fitted.shortened) fitted.text += more(report);
    return std::move(fitted.text);
  }

 private:
  void add(std::string text) { parts_.push_back({std::move(text)}); }
  void add(std::string whole, std::string brief, Order order) {
    parts_.push_back({std::move(whole), std::move(brief), order});
  }

  void head(const RunReport& report) {
    if (const std::string notice = notice_line(report); !notice.empty()) add(line("{}", notice));
    const Shade shade = !report.skipped.empty() ? Shade::kUnsure
                        : is_good(report)       ? Shade::kGood
                                                : Shade::kBad;
    add(painted(outcome_line(report), shade, style_.colour) + line("  {}", scenario_title(report)));
    if (!report.skipped.empty()) return add(line("  {}", report.skipped));
    if (const std::string replay = replay_line(report); !replay.empty() && !is_good(report))
      add(line("  replay  {}", replay));
  }

  void body(const RunReport& report) {
    if (report.facts) findings(*report.facts, is_good(report));
    if (report.compared)
      for (const VariantRow& row : report.compared->rows) variant(row);
    faults(report.judgement.faults);
    expectations(report.judgement);
    if (report.facts)
      for (const std::string& lost : losses_of(*report.facts)) add(line("  kept    {}", lost));
    for (const std::string& what : report.lost) add(line("  lost    {}", what));
    if (!report.cleanup.empty()) add(line("  left    {}", report.cleanup));
    if (report.facts) add(python_notes(*report.facts) + left_behind_text(report.facts->left_behind));
    if (!report.is_kept) return;
    if (report.compared && !report.compared->dir.empty()) add(line("  runs    {}", report.compared->dir));
    if (report.facts && !report.facts->run_dir.empty()) add(line("  run     {}", report.facts->run_dir));
  }

  void findings(const RunFacts& facts, bool good) {
    const std::string no_rank = no_rank_text(facts), found = findings_text(facts.findings),
                      stacks = evidence_text(facts.evidence);
    add(no_rank);
    add(found, first_cause_text(facts.findings), kFindings);
    add(stacks, evidence_summary(facts.evidence), kStacks);
    if (good) return;
    const std::string log = inert_text(log_that_tells(facts, no_rank + found + stacks));
    add(log, log.substr(0, log.find('\n') + 1), kLog);  // its path
  }

  void variant(const VariantRow& row) {
    add(line("  variant {:<18} {} rank{}, {:.1f} s, {}: {}", fmt::format("{}.{}", row.id, row.n), row.ranks,
             row.ranks == 1 ? "" : "s", row.seconds, to_text(row.verdict), row.summary));
  }

  void faults(const std::vector<FaultResult>& results) {
    std::string whole, brief;
    std::vector<std::string> verified;
    for (const FaultResult& fault : results) {
      const std::string one = line("  fault   {} {}: {}", fault.verified ? "✓" : "?", fault.id,
                                   fault.how.empty() ? (fault.fired ? "fired" : "did not fire") : fault.how);
      whole += one;
      if (fault.verified)
        verified.push_back(fault.id);
      else
        brief += one;
    }
    if (!verified.empty()) brief += line("  fault   ✓ {}", fmt::join(verified, ", "));
    add(whole, brief, kFaults);
  }

  void expectations(const Judgement& judgement) {
    std::string whole, brief;
    std::vector<std::string> passed;
    for (const ExpectationResult& result : judgement.expectations) {
      const std::string one =
          expectation(result.verdict, fmt::format("{:<18} {}", result.id, result.because));
      whole += one;
      if (result.verdict == Verdict::kPass)
        passed.push_back(result.id);
      else
        brief += one;
    }
    if (!passed.empty()) brief += expectation(Verdict::kPass, fmt::format("{}", fmt::join(passed, ", ")));
    if (judgement.expectations.empty()) whole = brief = line("  ?       {}", judgement.summary);
    add(whole, brief, kPassed);
  }

  std::string expectation(Verdict verdict, const std::string& text) const {
    const char* sign = verdict == Verdict::kPass ? "✓" : verdict == Verdict::kFail ? "✗" : "?";
    return "  " + painted(sign, shade_of(verdict), style_.colour) + line(" {}", text);
  }

  static std::string more(const RunReport& report) {
    if (report.is_kept && report.facts && !report.facts->run_dir.empty())
      return line("  more    rankfault report {}", report.facts->run_dir);
    return line("  more    with -v");
  }

  ConsoleStyle style_;
  std::vector<TextPart> parts_;
};

std::string total_line(const std::vector<RunReport>& reports) {
  size_t good = 0, skipped = 0;
  for (const RunReport& report : reports) {
    skipped += !report.skipped.empty();
    good += report.skipped.empty() && is_good(report);
  }
  return line("{} of {} as expected{}", good, reports.size() - skipped,
              skipped ? fmt::format(", {} skipped", skipped) : "");
}

Result<std::string> write_console(const std::vector<RunReport>& reports) { return console_text(reports, {}); }

const Registration<Report> kConsole{{.name = "console",
                                     .summary = "Text for people: culprit, faults, expectations.",
                                     .write = write_console}};

}  // namespace

bool colour_on_output() {
  const char* off = std::getenv("NO_COLOR");
  return ::isatty(STDOUT_FILENO) && (!off || !*off);
}

std::string painted(const std::string& word, Shade shade, bool colour) {
  if (!colour) return word;
  const auto tone = shade == Shade::kGood  ? fmt::terminal_color::green
                    : shade == Shade::kBad ? fmt::terminal_color::red
                                           : fmt::terminal_color::yellow;
  return fmt::format(fmt::emphasis::bold | fmt::fg(tone), "{}", word);
}

std::string console_text(const std::vector<RunReport>& reports, const ConsoleStyle& style) {
  std::string out;
  for (const RunReport& report : reports) out += Console(style).run(report);
  return reports.size() > 1 ? out + total_line(reports) : out;
}

}  // namespace rankfault
