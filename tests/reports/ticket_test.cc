// ticket_test: what people read outside a terminal: the text of a ticket, and what GitHub shows.
#include <algorithm>

#include "tests/reports/runs.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// The text without its code: `a`, ``a`` and blocks. A backslash takes a backtick its meaning.
std::string without_code(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '`' || (i > 0 && text[i - 1] == '\\')) {
      out += text[i++];
      continue;
    }
    const size_t inside = std::min(text.find_first_not_of('`', i), text.size());
    const std::string fence = text.substr(i, inside - i);
    size_t end = inside;
    for (size_t behind = 0; (end = text.find(fence, end)) != std::string::npos; end = behind) {
      behind = std::min(text.find_first_not_of('`', end), text.size());
      if (behind - end == fence.size()) break;
    }
    EXPECT_NE(end, std::string::npos) << "code without an end: " << text.substr(i, 200);
    i = std::min(end, text.size() - fence.size()) + fence.size();
  }
  return out;
}

size_t lines_in(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST_F(Reports, MarkdownIsForATicket) {
  killed_.mark(0, "step_begin", 3, 20).mark(1, "step_begin", 3, 20);
  expect_approved("ticket.md", written("markdown", reports_));
}

TEST_F(Reports, GithubAnnotatesWhatIsNotAsExpected) {
  Scenario& scenario = killed_.facts().plan.scenario;
  scenario.file = "scenarios/crash/kill.yaml";
  scenario.text = "version: 1\nexpect:\n  - blamed: {}\n  - unblocked: {}\n";
  scenario.workload.command = {"python3", "{scenario_dir}/../train.py", "--steps=3"};
  killed_.facts().findings.all[0].sides[0].call_site =
      "evaluate() at train.py:31, called from main() at train.py:58";
  expect_approved("github.txt", written("github", reports_));
  expect_approved("github-summary.md", written("github-summary", reports_));
  EXPECT_THAT(written("github", reports_),
              HasSubstr("::error file=scenarios/train.py,line=31,title=dead_rank"));
}

TEST_F(Reports, GithubSaysNothingOfRunsAsExpected) {
  EXPECT_EQ(written("github", {reports_[1]}), "");
  EXPECT_EQ(written("github-summary", {reports_[1]}), "### rankfault: 1 of 1 as expected\n");
  EXPECT_EQ(written("github-summary", {}), "### rankfault: 0 of 0 as expected\n");
}

TEST_F(Reports, GithubShowsTenAnnotationsAndSixtyLines) {
  std::vector<RunReport> many(200, reports_[0]);
  const std::string annotations = written("github", many), summary = written("github-summary", many);
  EXPECT_EQ(lines_in(annotations), 10u);
  EXPECT_THAT(annotations, HasSubstr("191 more annotations"));
  EXPECT_LE(lines_in(summary), 60u);
  EXPECT_THAT(summary, HasSubstr("more are not as expected"));
  EXPECT_THAT(summary, StartsWith("### rankfault: 0 of 200 as expected\n"));
}

TEST(GithubOfBadInput, ObeysNothingThatTheJobWrote) {
  Facts hostile;
  const std::string text = written("github", {hostile_report(hostile)});
  EXPECT_EQ(lines_in(text), 1u) << text;
  EXPECT_THAT(text, StartsWith("::error file=evil <script>"));
  EXPECT_THAT(text, Not(HasSubstr("##[error]")));
  EXPECT_THAT(text, HasSubstr("%0A?::error file=a.py"));
  EXPECT_THAT(text, HasSubstr("%250A"));
  const std::string properties = text.substr(8, text.find("::", 8) - 8);
  EXPECT_THAT(properties, Not(HasSubstr("\n")));
  EXPECT_EQ(std::count(properties.begin(), properties.end(), ','), 1) << properties;  // file and title alone
}

TEST(MarkdownOfBadInput, ShowsTextAndNoMarkup) {
  Facts hostile;
  for (const char* format : {"markdown", "github-summary"}) {
    const std::string text = written(format, {hostile_report(hostile)});
    expect_inert(text, format);
    const std::string outside = without_code(text);
    EXPECT_THAT(outside, Not(HasSubstr("<script>"))) << format;
    EXPECT_THAT(outside, HasSubstr("&lt;script&gt;")) << format;
    EXPECT_THAT(outside, Not(HasSubstr("@team"))) << format;
  }
}

// The fence of a block is longer than any in the text, and the text cannot end <details>.
TEST(MarkdownOfBadInput, AFenceInTheTextDoesNotEndTheBlock) {
  Facts facts;
  RunReport report = hostile_report(facts);
  facts.facts().findings.all[0].evidence = {"rank 3 wrote: ````", "</details>"};
  const std::string text = written("markdown", {report});
  EXPECT_THAT(text, HasSubstr("\n`````text\n"));
  EXPECT_THAT(text, HasSubstr("\n`````\n\n</details>\n"));
}

TEST(MarkdownOfBadInput, IsBounded) {
  Facts cut, none(0), large(1024);
  EXPECT_THAT(written("markdown", {cut_report(cut)}), HasSubstr("### UNKNOWN"));
  EXPECT_THAT(written("markdown", {report_of(none, "", "nothing")}), HasSubstr("The job has no rank."));
  const std::string text = written("markdown", {large_report(large)});
  EXPECT_LT(text.size(), 65'536u);
  EXPECT_THAT(text, HasSubstr("| rank 1023 | ended by SIGKILL |"));
  EXPECT_THAT(text, HasSubstr("| ranks 0-1022 |"));
}

TEST(ConsoleOfBadInput, SendsNothingToTheTerminal) {
  Facts hostile, cut, none(0), large(1024);
  expect_inert(written("console", {hostile_report(hostile)}), "hostile");
  for (const std::string& text :
       {written("console", {cut_report(cut)}), written("console", {large_report(large)}),
        written("console", {report_of(none, "", "nothing")})})
    EXPECT_LT(lines_in(text), 40u) << text.substr(0, 4000);
}

}  // namespace
}  // namespace rankfault::test
