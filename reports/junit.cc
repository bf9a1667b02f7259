// junit: writes one test case per run, for CI servers. A test case has the outcome, not the verdict: a canary
// that fails as expected is a success.
//
// GitLab shows classname as the suite and drops cases of equal (classname, name): each pair is unique here.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/base/mask.h"
#include "reports/words.h"

namespace rankfault {
namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t')
      out += c;
  }
  return out;
}

// "scenarios/hang/skip.yaml" -> "scenarios.hang.skip"
std::string class_name(const RunReport& report) {
  std::string name = scenario_title(report);
  if (const size_t dot = name.rfind(".yaml"); dot != std::string::npos && dot + 5 == name.size())
    name.erase(dot);
  while (name.rfind("./", 0) == 0 || name.rfind("/", 0) == 0) name.erase(0, name[0] == '/' ? 1 : 2);
  std::replace(name.begin(), name.end(), '/', '.');
  return "rankfault." + name;
}

double seconds_of(const RunReport& report) {
  double all = 0;
  if (report.compared)
    for (const VariantRow& row : report.compared->rows) all += row.seconds;
  if (report.compared) return all;
  if (!report.facts) return 0;
  return std::chrono::duration<double>(lasted(report.facts->begin, report.facts->end)).count();
}

std::string inside(const RunReport& report) {
  if (!report.skipped.empty())
    return fmt::format("      <skipped message=\"{}\"/>\n", escaped(report.skipped));
  if (is_good(report)) return "";
  const bool failed =
      report.judgement.verdict == Verdict::kFail || report.judgement.verdict == Verdict::kPass;
  const char* element = failed ? "failure" : "error";
  return fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n", element,
                     to_text(report.judgement.verdict), escaped(report.judgement.summary),
                     escaped(console_text({report}, false)));
}

// Returns the properties of a test case: the notice of a run over the double of CUDA.
std::string properties(const RunReport& report) {
  const std::string notice = notice_line(report);
  if (notice.empty()) return "";
  return fmt::format("      <properties><property name=\"notice\" value=\"{}\"/></properties>\n",
                     escaped(notice));
}

Result<std::string> write_junit(const std::vector<RunReport>& reports) {
  size_t failures = 0, errors = 0, skipped = 0;
  double total = 0;
  std::string cases, notice;
  std::map<std::string, int> seen;
  for (const RunReport& report : reports) {
    std::string name = class_name(report);
    if (const int n = ++seen[name]; n > 1) name += fmt::format("#{}", n);
    const std::string body = properties(report) + inside(report);
    if (notice.empty()) notice = notice_line(report);
    skipped += !report.skipped.empty();
    failures += body.find("<failure ") != std::string::npos;
    errors += body.find("<error ") != std::string::npos;
    total += seconds_of(report);
    cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"{}", escaped(name),
                         escaped(report.scenario), seconds_of(report),
                         body.empty() ? "/>\n" : ">\n" + body + "    </testcase>\n");
  }
  return masked_text(
      fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}<testsuites>\n"
                  "  <testsuite name=\"rankfault\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
                  "time=\"{:.3f}\">\n"
                  "{}  </testsuite>\n</testsuites>\n",
                  notice.empty() ? "" : "<!-- " + escaped(notice) + " -->\n", reports.size(), failures,
                  errors, skipped, total, cases));
}

const Registration<Report> kJunit{
    {.name = "junit", .summary = "JUnit XML for CI servers: the outcome of each run.", .write = write_junit}};

}  // namespace
}  // namespace rankfault
