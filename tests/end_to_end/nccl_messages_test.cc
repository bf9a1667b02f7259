// nccl_messages_test: findings about a message of NCCL without its partner: real runs over the double of
// CUDA.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/cuda_double/job.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using ::testing::HasSubstr;

class NcclMessages : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "none") GTEST_SKIP() << "./dev nccl has not been run";
  }
  // Returns the finding about a missing call of that op; null if there is none.
  Json missing(const std::string& program, const std::string& op) {
    const std::string text = fmt::format(
        "version: 1\nname: nccl-messages\nworkload:\n  launcher: local\n  ranks: 2\n  cuda: double\n"
        "  nccl: {}\n  command: [\"{{bin}}/ranks/cuda_double/nccl_ranks\", {}]\n"
        "  limits: {{wall: 6s, hung_after: 1s}}\n"
        "bug: {{args: [unused], stands_for: a rank that leaves without its part}}\n"
        "expect:\n  - blamed: {{kind: missing_call, op: {}}}\n",
        GetParam(), program, op);
    tool_ = run_tool({"run", scratch_.write("scenario.yaml", text), "--run-dir", scratch_.file("run")});
    for (const Json& f : findings_of(scratch_.file("run")))
      if (f["kind"] == "missing_call" && f["op"] == op) return f;
    return {};
  }

  Scratch scratch_;
  ToolRun tool_;
};

TEST_P(NcclMessages, AReceiveWithoutItsSendIsProven) {
  for (const char* program : {"messages_never_sent", "messages_never_sent_in_a_group"}) {
    const Json f = missing(program, "send");
    ASSERT_FALSE(f.is_null()) << program << ": " << tool_.output;
    EXPECT_EQ(f["confidence"], "proven") << f.dump(1);
    EXPECT_THAT(f["text"].get<std::string>(), HasSubstr("rank 1 made no send for it"));
    std::filesystem::remove_all(scratch_.file("run"));
  }
}

TEST_P(NcclMessages, ASendWithoutItsReceiveIsInferred) {
  const Json f = missing("messages_never_received", "recv");
  ASSERT_FALSE(f.is_null()) << tool_.output;
  EXPECT_EQ(f["confidence"], "inferred") << f.dump(1);
  EXPECT_THAT(f["text"].get<std::string>(), HasSubstr("rank 1 made no recv for it"));
}

INSTANTIATE_TEST_SUITE_P(Nccl, NcclMessages, testing::ValuesIn(newest_nccl_version()), version_name);
INSTANTIATE_TEST_SUITE_P(Soak, NcclMessages, testing::ValuesIn(older_nccl_versions()), version_name);

}  // namespace
}  // namespace rankfault::test
