// comparison_test: a scenario with variants as a user runs it: one table, one verdict, and the same judgement
// of a copy.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "tests/end_to_end/jobs.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;

// Two ranks and three ranks make different numbers of calls.
std::string compared(const std::string& within, const std::string& more = "") {
  return gloo_job(
      {.ranks = 2,
       .expect = "  - finished\n  - compare: {value: calls, op: all_reduce, within: " + within + "}\n",
       .more = "variants: [{id: two}, {id: three, ranks: 3}]\n" + more});
}

class ComparisonRun : public testing::Test {
 protected:
  ToolRun run(std::vector<std::string> args) {
    args.insert(args.begin(), {"run", "--runs", scratch_.file("runs")});
    return run_tool(args);
  }
  std::string only_run() {
    for (const auto& entry : std::filesystem::directory_iterator(scratch_.file("runs")))
      return entry.path().string();
    return "";
  }
  Scratch scratch_;
};

TEST_F(ComparisonRun, JudgingACopyGivesTheSameBytes) {
  const ToolRun tool = run({scratch_.write("c.yaml", compared("differs"))});
  EXPECT_EQ(tool.status, 0) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("variant three.1"));
  EXPECT_THAT(tool.output, HasSubstr("calls of all_reduce: two "));
  const std::string original = only_run(), copy = scratch_.file("copy");
  const std::string result = read_file(original + "/result.json");
  ASSERT_EQ(std::system(("cp -r " + original + " " + copy + " && rm -rf " + original).c_str()), 0);
  const ToolRun again = run_tool({"judge", copy, "--json"});
  EXPECT_EQ(again.status, 0) << again.output;
  EXPECT_EQ(again.output, result);
  EXPECT_THAT(run_tool({"report", "--format", "junit", copy}).output,
              HasSubstr("tests=\"1\" failures=\"0\""));
  EXPECT_EQ(run_tool({"explain", copy}).status, 0);
}

TEST_F(ComparisonRun, WhatDiffersFails) {
  const ToolRun tool = run({scratch_.write("c.yaml", compared("exact"))});
  EXPECT_EQ(tool.status, 1) << tool.output;
  EXPECT_EQ(result_of(only_run())["variants"].size(), 2u);
}

TEST_F(ComparisonRun, TeethAreCounted) {
  const char* teeth = "teeth:\n  - {set: {variants.three.ranks: 2}, must_fail: compare}\n";
  scratch_.write("a.yaml", compared("differs", teeth));
  scratch_.write("b.yaml", compared("differs", teeth));
  const ToolRun tool = run({"--teeth", scratch_.path()});
  EXPECT_EQ(tool.status, 0) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("2 scenarios: 2 of 2 mutations detected"));
}

TEST_F(ComparisonRun, ALadderOfItIsRefused) {
  const std::string file = scratch_.write("c.yaml", compared("differs"));
  const ToolRun tool = run({"--ranks", "2,3", file});
  EXPECT_EQ(tool.status, 64);
  EXPECT_THAT(tool.output, HasSubstr("this scenario has variants"));
}

}  // namespace
}  // namespace rankfault::test
