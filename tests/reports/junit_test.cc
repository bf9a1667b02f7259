// junit_test: JUnit files against their baseline and against the rules of CI servers.
#include "tests/reports/runs.h"
#include "tests/reports/xml_rules.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;
using testing::Not;

XmlElement checked(const char* format, const std::vector<RunReport>& reports) {
  const std::string text = written(format, reports);
  std::string mistake;
  const std::optional<XmlElement> root = read_xml(text, mistake);
  EXPECT_TRUE(root) << mistake << "\n" << text;
  if (!root) return {};
  const bool strict = std::string(format) == "junit-strict";
  EXPECT_EQ(junit_mistake(*root, strict ? CasePlaces::kForbidden : CasePlaces::kAllowed), "") << text;
  return *root;
}

TEST_F(Reports, JunitTellsTheOutcome) { expect_approved("junit.xml", written("junit", reports_)); }

TEST_F(Reports, JunitFollowsTheRulesOfCiServers) {
  reports_[0].cuda_double = "2.29.7";
  reports_[0].began = "2026-11-27T21:33:11";
  for (const char* format : {"junit", "junit-strict"}) checked(format, reports_);
  checked("junit", {});
}

TEST_F(Reports, TheRulesOfJunitFindWhatBreaksThem) {
  std::string mistake;
  std::string text = written("junit", reports_);
  const auto broken = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    other.replace(other.find(from), from.size(), to);
    const std::optional<XmlElement> root = read_xml(other, mistake);
    return root ? junit_mistake(*root, CasePlaces::kAllowed) : mistake;
  };
  EXPECT_EQ(junit_mistake(*read_xml(text, mistake), CasePlaces::kForbidden), "testcase may not have file");
  EXPECT_EQ(broken("name=\"kill\"", "nick=\"kill\""), "testcase may not have nick");
  EXPECT_EQ(broken("time=\"10.000\"", "time=\"10s\""), "time \"10s\"");
  EXPECT_EQ(broken("<skipped", "<skiped"), "testcase may not hold skiped");
  EXPECT_THAT(broken("failures=\"1\" errors=\"0\" skipped", "failures=\"2\" errors=\"0\" skipped"),
              HasSubstr("failures of scenarios/crash/kill.yaml is 2, and not 1"));
  EXPECT_THAT(broken("limit is 1s\"", "limit is < 1s\""), HasSubstr("a bare '<'"));
}

TEST_F(Reports, JunitNamesAreUniqueAndItsTextIsEscaped) {
  reports_[2].skipped = "a < b & \"c\"";
  reports_.push_back(reports_[2]);
  const std::string xml = written("junit", reports_);
  EXPECT_THAT(xml, HasSubstr("name=\"mpi-kill#2\""));
  EXPECT_THAT(xml, HasSubstr("a &lt; b &amp; &quot;c&quot;"));
  checked("junit", reports_);
}

// The checks of one scenario are cases of one class: `kill` and its mutations.
TEST_F(Reports, JunitPutsTheCasesOfOneFileIntoOneSuite) {
  reports_[1].file = reports_[0].file;
  const XmlElement root = checked("junit", reports_);
  ASSERT_EQ(root.children.size(), 2u);
  EXPECT_EQ(root.children[0].attributes.at("tests"), "2");
  EXPECT_EQ(root.children[0].children[0].attributes.at("classname"),
            root.children[0].children[1].attributes.at("classname"));
}

// The command knows how long a case took, with its reference run. A directory tells only of the run itself.
TEST_F(Reports, JunitHasTheTimeThatTheCommandMeasured) {
  EXPECT_EQ(checked("junit", reports_).children[0].attributes.at("time"), "10.000");
  reports_[0].seconds = 12.5;
  EXPECT_EQ(checked("junit", reports_).children[0].attributes.at("time"), "12.500");
}

TEST_F(Reports, JunitHasTheLineOfTheExpectation) {
  killed_.facts().plan.scenario.file = "scenarios/crash/kill.yaml";
  killed_.facts().plan.scenario.text = "version: 1\nexpect:\n  - blamed: {}\n  - unblocked: {}\n";
  EXPECT_THAT(written("junit", reports_),
              HasSubstr("name=\"kill\" time=\"10.000\" file=\"scenarios/crash/kill.yaml\" line=\"4\">"));
  EXPECT_THAT(written("junit-strict", reports_), Not(HasSubstr("line=")));
}

TEST(JunitOfBadInput, IsWellFormedAndInert) {
  Facts hostile, cut, none(0), large(1024);
  const std::vector<RunReport> reports{hostile_report(hostile), cut_report(cut),
                                       report_of(none, "", "nothing"), large_report(large)};
  for (const char* format : {"junit", "junit-strict"}) {
    const XmlElement root = checked(format, reports);
    ASSERT_EQ(root.children.size(), 4u);
    EXPECT_THAT(root.children[0].children[0].children[0].attributes.at("message"),
                HasSubstr("<script>alert(1)</script> ]]> `code` | cell @team ?]0;title??[31m"));
    EXPECT_EQ(root.children[1].attributes.at("errors"), "1");
    EXPECT_EQ(root.children[2].attributes.at("errors"), "1");
  }
}

}  // namespace
}  // namespace rankfault::test
