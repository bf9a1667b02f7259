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

}  // namespace
}  // namespace rankfault::test
