// run_output_test: what `run` reports of scenarios whose mutation checks ran, did not run, or do not exist.
#include "harness/commands/run_output.h"

#include <gmock/gmock.h>

namespace rankfault::test {
namespace {

using testing::HasSubstr;
using testing::Not;

ScenarioOutcome unit(const std::string& name) {
  ScenarioOutcome out;
  out.report.scenario = name;
  out.report.file = name + ".yaml";
  return out;
}

SessionResult with_teeth() {
  SessionResult result;
  for (const char* name : {"checked", "refused", "needy", "toothless"}) result.units.push_back(unit(name));
  MutationRow row;
  row.tooth = "t1";
  row.bites = true;
  row.seconds = 1.25;
  result.units[0].teeth = {row, row};
  result.units[0].teeth[1].tooth = "t2";
  result.units[1].error = refused("its launcher is gone");
  result.units[2].report.skipped = "needs torch";
  result.units[3].report.skipped = kNoTeeth;
  return result;
}

// No check of a scenario may vanish from the report: that would be a pass over nothing.
TEST(RunOutput, TeethThatDidNotRunAreReported) {
  const std::string xml = *report_text("junit", with_teeth());
  EXPECT_THAT(xml, HasSubstr("classname=\"rankfault.checked\" name=\"mutation t1\" time=\"1.250\""));
  EXPECT_THAT(xml, HasSubstr("classname=\"rankfault.checked\" name=\"mutation t2\""));
  EXPECT_THAT(xml, HasSubstr("message=\"its launcher is gone\""));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"needs torch\"/>"));
  EXPECT_THAT(xml, Not(HasSubstr("toothless")));
  EXPECT_THAT(xml, HasSubstr("<testsuites name=\"rankfault\" tests=\"4\" failures=\"0\" errors=\"1\""));
}

TEST(RunOutput, AMistakeIsAnnotatedAtItsLine) {
  SessionResult result;
  result.units.push_back(unit("a"));
  result.units[0].error = usage_error("unknown key \"rnaks\"", {"my-scenarios/a.yaml", 3, 2});
  result.units[0].report.where = result.units[0].error->where;
  EXPECT_THAT(
      *report_text("github", result),
      HasSubstr("::error file=my-scenarios/a.yaml,line=3,title=UNKNOWN%3A a::my-scenarios/a.yaml:3:2: "));
}

// A terminal and a CI server obey no text that a job or a file wrote.
TEST(RunOutput, IsInert) {
  SessionResult result = with_teeth();
  result.units[0].teeth[0].why = "\x1b[2J\n::error::forged";
  result.units[1].error->message = "\x1b[2J\n::error::forged";
  for (const ScenarioOutcome& one : result.units) {
    EXPECT_THAT(unit_text(one, {}), Not(HasSubstr("\x1b")));
    EXPECT_THAT(unit_text(one, {}), Not(HasSubstr("\n::error")));
  }
}

}  // namespace
}  // namespace rankfault::test
