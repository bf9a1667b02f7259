// junit: writes one test case per run, for CI servers. A test case has the outcome, not the verdict: a canary
// that fails as expected is a success. The cases of one scenario file are one suite.
//
// GitLab shows classname as the suite, links `file`, and drops cases of equal (classname, name): each pair is
// unique here. The schema of Jenkins' xunit plugin (junit-10.xsd) allows neither `file` nor `line` at a case:
// "junit-strict" leaves them out. Its rules hold for both: properties only in a suite, and no other
// attribute.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/base/mask.h"
#include "reports/escape.h"
#include "reports/story.h"
#include "reports/words.h"

namespace rankfault {
namespace {

enum class Places { kShown, kLeftOut };

std::string attribute(const std::string& text) {
  std::string out;
  for (const char c : xml_text(text)) {
    if (c == '\n')
      out += "&#10;";  // a parser reads an end of line in an attribute as a blank
    else
      out += c;
  }
  return out;
}

// "scenarios/hang/skip.yaml" -> "rankfault.scenarios.hang.skip"
std::string class_name(const RunReport& report) {
  std::string name = scenario_title(report);
  if (name.ends_with(".yaml")) name.erase(name.size() - 5);
  while (name.starts_with("./") || name.starts_with("/")) name.erase(0, name[0] == '/' ? 1 : 2);
  std::replace(name.begin(), name.end(), '/', '.');
  return "rankfault." + name;
}

double seconds_of(const RunReport& report) {
  if (report.seconds) return *report.seconds;
  double all = 0;
  if (report.compared)
    for (const VariantRow& row : report.compared->rows) all += row.seconds;
  if (report.compared || !report.facts) return all;
  return std::chrono::duration<double>(lasted(report.facts->begin, report.facts->end)).count();
}

enum class Outcome { kGood, kSkipped, kFailure, kError };

Outcome outcome_of(const RunReport& report) {
  if (!report.skipped.empty()) return Outcome::kSkipped;
  if (is_good(report)) return Outcome::kGood;
  const Verdict verdict = report.judgement.verdict;
  return verdict == Verdict::kFail || verdict == Verdict::kPass ? Outcome::kFailure : Outcome::kError;
}

std::string inside(const RunReport& report) {
  const Outcome outcome = outcome_of(report);
  if (outcome == Outcome::kGood) return "";
  if (outcome == Outcome::kSkipped)
    return fmt::format("      <skipped message=\"{}\"/>\n", attribute(report.skipped));
  return fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n",
                     outcome == Outcome::kFailure ? "failure" : "error", to_text(report.judgement.verdict),
                     attribute(report.judgement.summary), xml_text(console_text({report}, {})));
}

std::string place_attributes(const RunReport& report) {
  const SourcePos place = place_in_scenario(report);
  std::string out;
  if (!place.file.empty()) out = fmt::format(" file=\"{}\"", attribute(place.file));
  const bool is_of_failure = place.line > 0 && !is_good(report);
  if (!place.file.empty() && is_of_failure) out += fmt::format(" line=\"{}\"", place.line);
  return out;
}

struct Suite {
  std::string name, file, began, notice, cases;
  size_t tests = 0, failures = 0, errors = 0, skipped = 0;
  double seconds = 0;

  void add(const RunReport& report, const std::string& case_name, Places places) {
    const Outcome outcome = outcome_of(report);
    ++tests;
    failures += outcome == Outcome::kFailure;
    errors += outcome == Outcome::kError;
    skipped += outcome == Outcome::kSkipped;
    seconds += seconds_of(report);
    if (notice.empty()) notice = notice_line(report);
    if (began.empty()) began = report.began;
    const std::string body = inside(report);
    cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"{}{}",
                         attribute(class_name(report)), attribute(case_name), seconds_of(report),
                         places == Places::kShown ? place_attributes(report) : "",
                         body.empty() ? "/>\n" : ">\n" + body + "    </testcase>\n");
  }

  std::string text() const {
    std::string out = fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"",
        attribute(name), tests, failures, errors, skipped, seconds);
    if (!began.empty()) out += fmt::format(" timestamp=\"{}\"", began);
    if (!file.empty()) out += fmt::format(" file=\"{}\"", attribute(file));
    out += ">\n";
    if (!notice.empty())
      out +=
          fmt::format("    <properties>\n      <property name=\"notice\" value=\"{}\"/>\n    </properties>\n",
                      attribute(notice));
    return out + cases + "  </testsuite>\n";
  }
};

std::vector<Suite> suites_of(const std::vector<RunReport>& reports, Places places) {
  std::vector<Suite> suites;
  std::map<std::pair<std::string, std::string>, int> seen;
  for (const RunReport& report : reports) {
    const std::string title = scenario_title(report);
    auto suite = std::find_if(suites.begin(), suites.end(), [&](const Suite& s) { return s.name == title; });
    if (suite == suites.end()) {
      suite = suites.emplace(suites.end());
      suite->name = title;
      suite->file = report.file;
    }
    std::string name = report.scenario;
    if (const int n = ++seen[{class_name(report), name}]; n > 1) name += fmt::format("#{}", n);
    suite->add(report, name, places);
  }
  return suites;
}

Result<std::string> write(const std::vector<RunReport>& reports, Places places) {
  const std::vector<Suite> suites = suites_of(reports, places);
  size_t failures = 0, errors = 0;
  double seconds = 0;
  std::string text, notice;
  for (const Suite& suite : suites) {
    failures += suite.failures;
    errors += suite.errors;
    seconds += suite.seconds;
    if (notice.empty()) notice = suite.notice;
    text += suite.text();
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}<testsuites name=\"rankfault\" tests=\"{}\" "
      "failures=\"{}\" errors=\"{}\" time=\"{:.3f}\">\n{}</testsuites>\n",
      notice.empty() ? "" : "<!-- " + xml_text(notice) + " -->\n", reports.size(), failures, errors, seconds,
      text);
}

const Registration<Report> kJunit{
    {.name = "junit",
     .summary = "JUnit XML for CI servers: the outcome of each run, with the file and line.",
     .write = [](const std::vector<RunReport>& reports) { return write(reports, Places::kShown); }}};

const Registration<Report> kStrict{
    {.name = "junit-strict",
     .summary = "The same by the schema of Jenkins' xunit plugin: no file and line at a case.",
     .write = [](const std::vector<RunReport>& reports) { return write(reports, Places::kLeftOut); }}};

}  // namespace
}  // namespace rankfault
