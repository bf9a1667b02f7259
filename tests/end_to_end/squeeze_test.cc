// squeeze_test: a resource is short in a real job, and no rank needs it: the run is void and never passes.
#include <gmock/gmock.h>

#include "tests/end_to_end/jobs.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;

constexpr int kVoid = 2, kUsage = 64, kSkipped = 77;

class SqueezeRun : public testing::Test {
 protected:
  ToolRun run(const std::string& fault, const std::string& args = "") {
    const std::string file = scratch_.write(
        "scenario.yaml", trainer_job({.fault = fault, .expect = "  - finished\n", .args = args}));
    return run_tool({"run", file, "--run-dir", scratch_.file("run")});
  }
  std::string checkpoints() const {
    return ", \"--checkpoint-dir={tmp}/checkpoints\", \"--checkpoint-every=5\"";
  }

  Scratch scratch_;
};

TEST_F(SqueezeRun, DescriptorsThatNobodyWantsAreNotMissed) {
  const ToolRun tool = run("{id: few, kind: descriptor_squeeze, ranks: [0], at: {op: all_reduce, nth: 2}}");
  EXPECT_EQ(tool.status, kVoid) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("no recorded open of rank 0 failed with EMFILE"));
}

TEST_F(SqueezeRun, DescriptorsThatAreThereAgainAreNotMissed) {
  const ToolRun tool =
      run("{id: few, kind: descriptor_squeeze, for: 1ms, ranks: [0], at: {op: all_reduce, nth: 2}}\n"
          "  - {id: later, kind: delay_call, by: 300ms, ranks: [0], at: {step: 4, op: all_reduce}}",
          checkpoints());
  EXPECT_EQ(tool.status, kVoid) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("no recorded open of rank 0 failed with EMFILE"));
  EXPECT_THAT(read_file(scratch_.file("run/journal.ndjson")), HasSubstr(" again\""));
}

// A second squeeze would take the limit of the first for the original one, which would be lost.
TEST_F(SqueezeRun, ASecondSqueezeOfOneResourceIsRefused) {
  const ToolRun tool = run(
      "{id: few, kind: descriptor_squeeze, spare: 9, for: 20s, times: 2, ranks: [0], at: {op: all_reduce}}");
  EXPECT_EQ(tool.status, kVoid) << tool.output;
  EXPECT_THAT(read_file(scratch_.file("run/journal.ndjson")), HasSubstr("is limited already"));
}

TEST_F(SqueezeRun, WhatLiesInASmallFolderCanBeHarmed) {
  const ToolRun tool = run(
      "{id: small, kind: disk_full, path: checkpoints, size: 1048576, ranks: all}\n"
      "  - {id: cut, kind: file_truncate, path: 'checkpoints/*', ranks: [0], at: {step: 8, op: all_reduce}}",
      checkpoints());
  if (tool.status == kSkipped) GTEST_SKIP() << tool.output;
  EXPECT_THAT(read_file(scratch_.file("run/journal.ndjson")), HasSubstr("file_harmed"));
}

TEST_F(SqueezeRun, MemoryThatIsEnoughIsNotMissed) {
  const ToolRun tool =
      run("{id: little, kind: memory_squeeze, spare: 1000000000, ranks: [1], at: {op: all_reduce, nth: 2}}");
  EXPECT_EQ(tool.status, kVoid) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("were enough for rank 1"));
}

TEST_F(SqueezeRun, ARankThatSleepsWantsNoCore) {
  const ToolRun tool =
      run("{id: busy, kind: cpu_squeeze, for: 5s, ranks: [0], at: {op: all_reduce, nth: 2}}\n"
          "  - {id: later, kind: delay_call, by: 6s, ranks: [0], at: {op: all_reduce, nth: 3}}",
          ", \"--collective-timeout=20s\"");
  EXPECT_EQ(tool.status, kVoid) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("busy processes on"));
}

TEST_F(SqueezeRun, AFullDiskThatNobodyWritesToIsNotMissed) {
  const ToolRun tool = run("{id: full, kind: disk_full, path: elsewhere, ranks: all}", checkpoints());
  if (tool.status == kSkipped) GTEST_SKIP() << tool.output;
  EXPECT_EQ(tool.status, kVoid) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("no recorded call ran out of space"));
}

TEST_F(SqueezeRun, NonsenseIsRefusedWithItsPlace) {
  const ToolRun tool =
      run("{id: few, kind: descriptor_squeeze, spare: -1, ranks: [0], at: {op: all_reduce, nth: 2}}");
  EXPECT_EQ(tool.status, kUsage) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("scenario.yaml:"));
}

}  // namespace
}  // namespace rankfault::test
