// wrong_words_test: a command or a folder that does not exist gives one clear line and exit status 64.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;

TEST(WrongWords, AnUnknownCommandIsNamedWithTheNearestOne) {
  const ToolRun tool = run_tool({"wach", "--", "true"});
  EXPECT_EQ(tool.status, 64);
  EXPECT_THAT(tool.output, HasSubstr("unknown command \"wach\" (did you mean \"watch\"?)"));
}

TEST(WrongWords, AFolderThatIsNoRunIsNamedAsSuch) {
  const Scratch scratch;
  for (const char* command : {"report", "explain", "judge"}) {
    const ToolRun tool = run_tool({command, scratch.path()});
    EXPECT_EQ(tool.status, 64) << command;
    EXPECT_THAT(tool.output, HasSubstr(scratch.path() + " is not a run directory of rankfault")) << command;
  }
}

// A CI server shows the XML, not the exit status.
TEST(WrongWords, AMistakeInAFileIsInTheJunitReport) {
  const Scratch scratch;
  const std::string file = scratch.write("wrong.yaml", "version: 1\nname: wrong\nworkload: {ranks: no}\n");
  const ToolRun tool = run_tool({"run", file, "--junit", scratch.file("out.xml")});
  EXPECT_EQ(tool.status, 64) << tool.output;
  const std::string xml = read_file(scratch.file("out.xml"));
  EXPECT_THAT(xml, HasSubstr("<error "));
  EXPECT_THAT(xml, HasSubstr("wrong.yaml:3:"));
}

TEST(WrongWords, AMistakeInAFileIsAnnotatedForGithub) {
  const Scratch scratch;
  const std::string file = scratch.write("wrong.yaml", "version: 1\nname: wrong\nworkload: {ranks: no}\n");
  const std::string summary = scratch.write("summary.md", "from another step\n");
  const ToolRun tool = run_tool({"run", file, "--github"}, {{"GITHUB_STEP_SUMMARY", summary}});
  EXPECT_EQ(tool.status, 64) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("::error file=" + file + ",line=3,title=UNKNOWN"));
  EXPECT_THAT(read_file(summary), HasSubstr("from another step\n### rankfault: 0 of "));
  EXPECT_EQ(run_tool({"run", file, "--github", "--json"}).status, 64);
}

}  // namespace
}  // namespace rankfault::test
