// github: writes what GitHub Actions shows: annotations at the lines of a pull request, and the summary of a
// job.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "harness/base/mask.h"
#include "reports/escape.h"
#include "reports/story.h"
#include "reports/words.h"

namespace rankfault {
namespace {

constexpr size_t kMostAnnotations = 10;  // GitHub shows no more of one level for one step
constexpr size_t kMostLines = 60, kMostText = 500;

// GitHub finds a file by its path in the repository: "./a.yaml" and absolute paths name none.
std::string path_in_repository(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().string();
}

std::string annotation(const char* level, const SourcePos& at, const std::string& title,
                       const std::string& message) {
  std::string where;
  if (!at.file.empty()) where = "file=" + github_property(path_in_repository(at.file)) + ",";
  if (!at.file.empty() && at.line > 0) where += fmt::format("line={},", at.line);
  return fmt::format("::{} {}title={}::{}\n", level, where, github_property(title), github_message(message));
}

std::string message_of(const RunReport& report) {
  const Finding* cause = first_cause(report);
  std::string out = report.judgement.summary;
  if (cause) out += "\n" + finding_line(*cause) + "\n" + cause->text;
  if (cause)
    for (const Side& side : cause->sides) out += "\n" + side_line(side);
  if (const std::string replay = replay_line(report); !replay.empty()) out += "\nreplay: " + replay;
  return cut_text(masked_text(out), 4'000);
}

// A run that is not as expected has an annotation where the scenario says what did not hold, and one at the
// line of the program that the cause names.
std::vector<std::string> annotations_of(const RunReport& report) {
  const std::string name = report.scenario.empty() ? scenario_title(report) : report.scenario;
  std::vector<std::string> out{annotation("error", place_in_scenario(report),
                                          fmt::format("{}: {}", outcome_line(report), name),
                                          message_of(report))};
  if (const std::optional<SourcePos> line = line_of_program(report)) {
    const Finding& cause = *first_cause(report);
    out.push_back(annotation("error", *line, finding_line(cause), masked_text(cause.text)));
  }
  return out;
}

Result<std::string> write_annotations(const std::vector<RunReport>& reports) {
  std::vector<std::string> all;
  size_t skipped = 0;
  for (const RunReport& report : reports) {
    skipped += !report.skipped.empty();
    if (is_good(report)) continue;
    for (std::string& one : annotations_of(report)) all.push_back(std::move(one));
  }
  std::string out;
  const size_t shown = all.size() > kMostAnnotations ? kMostAnnotations - 1 : all.size();
  for (size_t i = 0; i < shown; ++i) out += all[i];
  if (shown < all.size())
    out += annotation("error", {}, "rankfault",
                      fmt::format("{} more annotations: see the summary of the job", all.size() - shown));
  if (skipped)
    out += annotation("notice", {}, "rankfault",
                      fmt::format("{} of {} scenarios were skipped", skipped, reports.size()));
  return out;
}

std::string cell(const std::string& raw) { return markdown_text(cut_text(raw, kMostText)); }

std::string row_of(const RunReport& report) {
  return fmt::format("| {} | {} | {} |\n", outcome_line(report), cell(scenario_title(report)),
                     cell(story_of(report)));
}

// The lines on one run that is not as expected; ten at most.
std::string details_of(const RunReport& report) {
  std::string out = fmt::format("\n**{}** {}\n", outcome_line(report), cell(scenario_title(report)));
  if (!report.judgement.summary.empty()) out += fmt::format("- {}\n", cell(report.judgement.summary));
  if (const Finding* cause = first_cause(report)) {
    out += fmt::format("- {}\n", cell(finding_line(*cause)));
    for (size_t i = 0; i < cause->sides.size() && i < 3; ++i)
      out += fmt::format("- {}\n", cell(side_line(cause->sides[i])));
  }
  if (const std::string replay = replay_line(report); !replay.empty())
    out += fmt::format("- replay: {}\n", markdown_code(replay));
  return out;
}

size_t lines_in(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Adds parts while there is room for them and for the line that counts the others.
void add_while_room(const std::vector<std::string>& parts, size_t room, const char* what, std::string& out) {
  size_t shown = 0;
  for (const std::string& part : parts) {
    if (lines_in(out) + lines_in(part) + 2 > room) break;
    out += part;
    ++shown;
  }
  if (shown < parts.size()) out += fmt::format("\n{} more {}\n", parts.size() - shown, what);
}

Result<std::string> write_summary(const std::vector<RunReport>& reports) {
  size_t good = 0, skipped = 0;
  std::vector<std::string> rows, details;
  for (const RunReport& report : reports) {
    skipped += !report.skipped.empty();
    good += report.skipped.empty() && is_good(report);
    if (is_good(report)) continue;
    rows.push_back(row_of(report));
    details.push_back(details_of(report));
  }
  std::string out = fmt::format("### rankfault: {} of {} as expected{}\n", good, reports.size() - skipped,
                                skipped ? fmt::format(", {} skipped", skipped) : "");
  for (const RunReport& report : reports)
    if (const std::string notice = notice_line(report); !notice.empty()) {
      out += "\n" + cell(notice) + "\n";
      break;
    }
  if (!rows.empty()) {
    out += "\n| outcome | scenario | what happened |\n|---|---|---|\n";
    add_while_room(rows, kMostLines / 2, "are not as expected", out);
    add_while_room(details, kMostLines, "are in the report of the run", out);
  }
  return out;
}

const Registration<Report> kAnnotations{
    {.name = "github",
     .summary = "Workflow commands of GitHub Actions: an error at the line that did not hold.",
     .write = write_annotations}};

const Registration<Report> kSummary{
    {.name = "github-summary",
     .summary = "The summary of a GitHub job, for $GITHUB_STEP_SUMMARY: 60 lines at most.",
     .write = write_summary}};

}  // namespace
}  // namespace rankfault
