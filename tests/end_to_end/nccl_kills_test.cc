// nccl_kills_test: findings about a rank that is killed before, in and after an operation of NCCL: real runs
// over the double of CUDA.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/cuda_double/job.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using ::testing::HasSubstr;

class NcclKills : public testing::TestWithParam<std::string> {
 protected:
  // Runs three ranks and kills rank 1 at that point; empty if the run is not possible here.
  std::vector<Json> run(const std::string& program, const std::string& at) {
    const std::string text = fmt::format(
        "version: 1\nname: nccl-kills\nworkload:\n  launcher: local\n  ranks: 3\n  cuda: double\n"
        "  nccl: {}\n  command: [\"{{bin}}/ranks/cuda_double/nccl_ranks\", {}]\n"
        "  limits: {{wall: 8s, hung_after: 1s}}\n"
        "faults:\n  - {{id: kill, kind: rank_kill, ranks: [1], at: {}}}\n"
        "expect:\n  - blamed: {{kind: dead_rank, ranks: [1]}}\n",
        GetParam(), program, at);
    tool_ = run_tool({"run", scratch_.write("scenario.yaml", text), "--run-dir", scratch_.file("run")});
    return tool_.status == 77 ? std::vector<Json>{} : findings_of(scratch_.file("run"));
  }
  void SetUp() override {
    if (GetParam() == "none") GTEST_SKIP() << "./dev nccl has not been run";
  }
  static std::string evidence(const Json& finding) { return finding["evidence"].dump(); }

  Scratch scratch_;
  ToolRun tool_;
};

TEST_P(NcclKills, ARankKilledBeforeItsCallIsProven) {
  const auto found = run("waits_steps", "{op: all_reduce, nth: 4}");
  ASSERT_FALSE(found.empty()) << tool_.output;
  EXPECT_EQ(found[0]["kind"], "dead_rank") << tool_.output;
  EXPECT_EQ(found[0]["ranks"], Json({1}));
  EXPECT_EQ(found[0]["confidence"], "proven") << found[0].dump(1);
  EXPECT_EQ(found[0]["seq"], (Json{{"from", 4}, {"to", 4}}));
  EXPECT_THAT(evidence(found[0]),
              HasSubstr("rank 0 waits in cudaStreamSynchronize for all_reduce int32 x 16"));
}

TEST_P(NcclKills, ARankKilledAfterItsEnqueueIsInferred) {
  const auto found = run("waits_steps_held", "{op: all_reduce, nth: 4, edge: after}");
  ASSERT_FALSE(found.empty()) << tool_.output;
  EXPECT_EQ(found[0]["kind"], "dead_rank") << tool_.output;
  EXPECT_EQ(found[0]["confidence"], "inferred") << found[0].dump(1);
  EXPECT_EQ(found[0]["seq"], (Json{{"from", 4}, {"to", 4}}));
  EXPECT_THAT(std::string(found[0]["text"]), HasSubstr("in flight"));
}

TEST_P(NcclKills, NobodyWaitsForARankKilledAfterCompletion) {
  const auto found = run("waits_steps", "{op: stream_wait, nth: 4, edge: after}");
  ASSERT_EQ(found.size(), 1u) << tool_.output;
  EXPECT_EQ(found[0]["kind"], "dead_rank") << tool_.output;
  EXPECT_EQ(found[0]["confidence"], "inferred") << found[0].dump(1);
  EXPECT_THAT(std::string(found[0]["text"]), HasSubstr("rankfault saw no rank wait for it"));
}

INSTANTIATE_TEST_SUITE_P(Nccl, NcclKills, testing::ValuesIn(newest_nccl_version()), version_name);
INSTANTIATE_TEST_SUITE_P(Soak, NcclKills, testing::ValuesIn(older_nccl_versions()), version_name);

}  // namespace
}  // namespace rankfault::test
