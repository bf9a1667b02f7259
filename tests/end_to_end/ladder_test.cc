// ladder_test: `run --ranks 1,2,3`: one command line with several world sizes, and which words are mistakes.
#include <gmock/gmock.h>

#include "tests/end_to_end/jobs.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class LadderRun : public testing::Test {
 protected:
  ToolRun run(std::vector<std::string> args) {
    args.insert(args.begin(), {"run", "--runs", scratch_.file("runs")});
    return run_tool(args);
  }
  Scratch scratch_;
};

TEST_F(LadderRun, TellsTheFirstSizeAtWhichACommandFails) {
  const ToolRun tool =
      run({"--ranks", "1,2,3", "--expect", "finished", "--", "sh", "-c", "test $WORLD_SIZE -lt 3"});
  EXPECT_EQ(tool.status, 1) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("    2  PASS     1 of 1 expectations hold"));
  EXPECT_THAT(tool.output, HasSubstr("    3  FAIL     finished: rank 0 exited 1"));
  EXPECT_THAT(tool.output, HasSubstr("fails first at 3 ranks"));
}

TEST_F(LadderRun, RefusesTheSizesAtWhichAFilesVictimIsNotThere) {
  const std::string file = scratch_.write(
      "one.yaml", gloo_job({.fault = "{id: kill, kind: rank_kill, ranks: [2], at: {op: all_reduce, nth: 3}}",
                            .expect = "  - blamed: {kind: dead_rank, ranks: [2]}\n"}));
  const ToolRun tool = run({"--ranks", "2,3,4", file});
  EXPECT_EQ(tool.status, 0) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("    2  refused  " + file));
  EXPECT_THAT(tool.output, HasSubstr("    4  PASS"));
  EXPECT_THAT(tool.output, HasSubstr("fails at none of these sizes"));
}

// 614 samples are 19 batches of 32, and 6 more: enough for 4 ranks, and too few for 8.
TEST_F(LadderRun, FindsTheSizeFromWhichTheDataDoNotDivide) {
  const ToolRun tool =
      run({"--ranks", "1,2,4,8", "--expect", "finished", "--", "{bin}/trainer", "--store={store}",
           "--samples=614", "--end-of-data=leave", "--collective-timeout=1s", "--steps=30"});
  EXPECT_EQ(tool.status, 1) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("    4  PASS"));
  EXPECT_THAT(tool.output, HasSubstr("fails first at 8 ranks"));
}

TEST_F(LadderRun, WrongSizesAreAUsageError) {
  for (const char* sizes : {"1,x", "0,-1", "1,,2"}) {
    const ToolRun tool = run({"--ranks", sizes, "--", "true"});
    EXPECT_EQ(tool.status, 64) << sizes << "\n" << tool.output;
    EXPECT_THAT(tool.output, Not(HasSubstr("PASS")));
  }
  EXPECT_EQ(run({"--ranks", "1,2", "--teeth", "--", "true"}).status, 64);
}

}  // namespace
}  // namespace rankfault::test
