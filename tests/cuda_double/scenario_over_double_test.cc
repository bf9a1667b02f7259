// scenario_over_double_test: `cuda: double` in a scenario: the first line of its reports, its NCCL, and the
// judgement of its values.
#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/cuda_double/job.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kNotice = "CUDA is a double: host code of NCCL ";

std::string scenario(const std::string& what, const std::string& more = "", const std::string& expect = "") {
  return "version: 1\nname: over-double\nworkload:\n  ranks: 4\n  cuda: double\n  env: {MEET: \"{tmp}\"}\n"
         "  command: [\"{bin}/ranks/cuda_double/nccl_ranks\", " +
         what + "]\n  limits: {wall: 60s}\n" + more + "expect:\n  - finished\n" + expect;
}

class ScenarioOverDouble : public testing::Test {
 protected:
  void SetUp() override {
    if (built_nccl_versions().front() == "none") GTEST_SKIP() << "./dev nccl was not run";
  }

  ToolRun run(const std::string& text, std::vector<std::string> more = {}) {
    std::vector<std::string> args = {"run", scratch_.write("s.yaml", text), "--run-dir",
                                     scratch_.file("run")};
    args.insert(args.end(), more.begin(), more.end());
    return run_tool(args);
  }

  Scratch scratch_;
};

TEST_F(ScenarioOverDouble, EveryReportSaysFirstThatCudaIsADouble) {
  const ToolRun tool = run(scenario("values"), {"--junit", scratch_.file("junit.xml")});
  EXPECT_EQ(tool.status, 0) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr(std::string(kNotice) + built_nccl_versions().back()));
  EXPECT_LT(tool.output.find(kNotice), tool.output.find("PASS"));
  EXPECT_THAT(read_file(scratch_.file("run/result.json")),
              StartsWith("{\n  \"notice\": \"" + std::string(kNotice)));
  const std::string junit = read_file(scratch_.file("junit.xml"));
  EXPECT_THAT(junit, StartsWith("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- " + std::string(kNotice)));
  EXPECT_THAT(junit, HasSubstr("<property name=\"notice\" value=\"" + std::string(kNotice)));
  EXPECT_THAT(run_tool({"judge", scratch_.file("run")}).output, StartsWith(kNotice));
}

TEST_F(ScenarioOverDouble, EveryVersionThatWasBuiltCanBeAskedFor) {
  for (const std::string& version : built_nccl_versions()) {
    const Scratch own;
    const ToolRun tool = run_tool(
        {"run", own.write("s.yaml", scenario("values")), "--run-dir", own.file("run"), "--nccl", version});
    EXPECT_EQ(tool.status, 0) << tool.output;
    EXPECT_THAT(tool.output, HasSubstr(kNotice + version + ","));
  }
}

TEST_F(ScenarioOverDouble, WhatIsNotThereIsSkippedAndNothingIsStarted) {
  const ToolRun tool = run(scenario("values", "  needs: [\"nccl >= 99\"]\n"));
  EXPECT_EQ(tool.status, 77) << tool.output;
  EXPECT_THAT(tool.output,
              HasSubstr("nccl >= 99 is needed, but the double has NCCL " + built_nccl_versions().back()));
  EXPECT_EQ(read_file(scratch_.file("run/plan.json")), "");
}

TEST_F(ScenarioOverDouble, AfterAKernelThatComputedNothingAValueShowsNothing) {
  const std::string values = "  - agreed: {values: [value]}\n",
                    markers = "  markers: {value: \"value (.*)\"}\n";
  const ToolRun own = run(scenario("own_kernel", markers, values));
  EXPECT_EQ(own.status, 2) << own.output;
  EXPECT_THAT(own.output, HasSubstr("kernels other than NCCL's computed nothing (1 of process "));
  EXPECT_THAT(own.output, HasSubstr("values prove nothing"));
}

TEST_F(ScenarioOverDouble, WithoutSuchAKernelAValueIsJudged) {
  const ToolRun none =
      run(scenario("no_kernel", "  markers: {value: \"value (.*)\"}\n", "  - agreed: {values: [value]}\n"));
  EXPECT_THAT(none.output, Not(HasSubstr("values prove nothing")));
}

TEST_F(ScenarioOverDouble, SegmentsThatNobodyHeldAtALookAreToldAndRemoved) {
  const ToolRun tool = run(scenario("abandoned_segments", "", "  - left_nothing: [shm]\n"));
  EXPECT_EQ(tool.status, 1) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("40 left behind, first: shm /dev/shm/nccl-"));
  const std::string undo = read_file(scratch_.file("run/undo"));
  for (size_t at = 0; (at = undo.find("/dev/shm/", at)) != std::string::npos; ++at) {
    const std::string path = undo.substr(at, undo.find('\n', at) - at);
    EXPECT_NE(::access(path.c_str(), F_OK), 0) << path;
  }
}

// Each rank waits in cudaStreamSynchronize for the sum that the other rank enqueues second.
TEST_F(ScenarioOverDouble, ACircleOfHostWaitsIsToldWhileItHangs) {
  const std::string text =
      "version: 1\nname: circle\nworkload:\n  ranks: 2\n  cuda: double\n"
      "  command: [\"{bin}/workloads/two_sums\", \"--store={store}\", --one-by-one]\n"
      "  limits: {wall: 60s, slow_after: 500ms, hung_after: 1s}\nexpect:\n"
      "  - told: {kind: order_deadlock}\n  - ended: {ranks: all, exit: 3}\n";
  const ToolRun tool = run(text);
  EXPECT_EQ(tool.status, 0) << tool.output;
  EXPECT_THAT(tool.output,
              HasSubstr("rank 0 waits in all_reduce 2 on world for rank 1, rank 1 waits in all_reduce 1"));
}

// Both ranks have enqueued both sums on one stream, in different orders. Neither waits in a call.
TEST_F(ScenarioOverDouble, AnotherOrderOnOneStreamIsToldWhileItHangs) {
  const std::string text =
      "version: 1\nname: one-stream\nworkload:\n  ranks: 2\n  cuda: double\n"
      "  command: [\"{bin}/workloads/two_sums\", \"--store={store}\", --one-stream]\n"
      "  limits: {wall: 60s, slow_after: 200ms}\nexpect:\n"
      "  - told: {kind: order_deadlock}\n  - ended: {ranks: all, exit: 3}\n";
  const ToolRun tool = run(text);
  EXPECT_EQ(tool.status, 0) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("rank 1 put all_reduce 1 on"));
}

TEST_F(ScenarioOverDouble, TeethSayItToo) {
  const std::string text =
      scenario("values") + "teeth:\n  - {set: {workload.command: [\"/bin/false\"]}, must_fail: finished}\n";
  const ToolRun tool =
      run_tool({"run", "--teeth", "--runs", scratch_.file("runs"), scratch_.write("s.yaml", text)});
  EXPECT_THAT(tool.output, HasSubstr(kNotice));
}

TEST_F(ScenarioOverDouble, ALargerJobThanDevShmHoldsIsRefusedBeforeLaunch) {
  std::string text = scenario("values");
  text.replace(text.find("ranks: 4"), 8, "ranks: 16384");
  const ToolRun tool = run(text);
  EXPECT_EQ(tool.status, 64) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("/dev/shm has room for "));
}

}  // namespace
}  // namespace rankfault::test
