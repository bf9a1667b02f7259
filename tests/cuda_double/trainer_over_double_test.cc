// Tests of the reference trainer over NCCL's own code and the double of CUDA, for each version: the same
// weights as over Gloo, bit for bit, and how the other ranks continue when one is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "tests/cuda_double/job.h"
#include "tests/trainer/trainer_job.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

std::string weights_in(const std::string& said) {
  const size_t at = said.find("weights ");
  return at == std::string::npos ? "none" : said.substr(at + 8, 16);
}

std::string weights_over_gloo(const Words& arguments) {
  const trainer::JobResult result = trainer::run_job({4, arguments});
  EXPECT_NE(result.weights(), "") << result.output;
  return result.weights();
}

class TrainerOverDouble : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "none")
      GTEST_SKIP() << "./dev nccl has not been run: there is no NCCL to run over the double";
  }

  GpulessJob::Ended run(int ranks, const Words& arguments, std::map<int, Words> of_one = {}) {
    GpulessJob job;
    job.version = GetParam();
    job.ranks = ranks;
    job.program = "trainer_nccl";
    job.words = {"--store={folder}/store"};
    job.words.insert(job.words.end(), arguments.begin(), arguments.end());
    job.more_words = std::move(of_one);
    return job.run();
  }

  // Rank 2 leaves in step 7 because of its own error (5), and no error flag informs the others.
  GpulessJob::Ended run_with_one_that_leaves(const Words& more) {
    Words arguments = {"--steps=12",           "--bad-sample=7:2",
                       "--error-flag=never",   "--collective-timeout=2s",
                       "--recoveries=1",       "--meet-again=2s",
                       "--checkpoint-every=5", "--checkpoint-dir={folder}/checkpoints"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(3, arguments);
  }

  void others_finished(const GpulessJob::Ended& ended) {
    for (size_t rank = 0; rank < ended.status.size(); ++rank)
      EXPECT_EQ(WEXITSTATUS(ended.status[rank]), rank == 2 ? 5 : 0) << ended.text();
    EXPECT_THAT(ended.said[0], HasSubstr("rank 0 of 2 in generation 1"));
    EXPECT_THAT(ended.said[0], HasSubstr("resumed from the checkpoint of step 5"));
    EXPECT_EQ(weights_in(ended.said[0]), weights_over_gloo({"--steps=12"})) << ended.text();
  }

  bool is_before(const std::string& version) { return GetParam() < version; }
};

TEST_P(TrainerOverDouble, TheWeightsAreThoseOverGloo) {
  const std::string expected = weights_over_gloo({"--steps=12"});
  for (const char* more : {"--evaluate-every=5", "--grid=2x2x1", "--node-size=2"}) {
    const auto ended = run(4, {"--steps=12", "--progress-check=4", more});
    EXPECT_TRUE(ended.all_exited_0()) << ended.text();
    EXPECT_EQ(weights_in(ended.said[0]), expected) << more << "\n" << ended.text();
  }
}

TEST_P(TrainerOverDouble, ALimitEndsACallThatTheErrorStateCallsFine) {
  const auto ended =
      run(2, {"--steps=5", "--limits-by=watchdog", "--collective-timeout=1s"}, {{1, {"--error-flag=never"}}});
  for (size_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(WEXITSTATUS(ended.status[rank]), 3) << ended.text();
    EXPECT_THAT(ended.said[rank], HasSubstr("times and said success"));
    EXPECT_THAT(ended.said[rank], HasSubstr("numel 1 timeout(ms) 1000 ran for"));
  }
}

// The pending operations are on communicators that were split from the world.
TEST_P(TrainerOverDouble, AnAbortEndsWhatIsInFlightOnEveryCommunicator) {
  const auto ended =
      run(4, {"--steps=5", "--grid=2x2x1", "--axes-reversed-on=1,2", "--collective-timeout=1s"});
  for (size_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(WEXITSTATUS(ended.status[rank]), 3) << ended.text();
    EXPECT_THAT(ended.said[rank], HasSubstr("step 1: timeout: all_reduce failed"));
  }
}

// Rank 1 has no limit. Rank 0 has one, and reports its failure.
TEST_P(TrainerOverDouble, AFailureThatIsToldFreesARankWithoutALimit) {
  const auto ended = run(2, {"--steps=5", "--collective-timeout=1s", "--tell-failures"},
                         {{1, {"--error-flag=never", "--collective-timeout=none"}}});
  EXPECT_EQ(WEXITSTATUS(ended.status[1]), 3) << ended.text();
  EXPECT_THAT(ended.said[1], HasSubstr("peer_lost: all_gather failed: a peer told: all_reduce failed"));
}

TEST_P(TrainerOverDouble, TheOthersMeetAgainUnderANewId) { others_finished(run_with_one_that_leaves({})); }

TEST_P(TrainerOverDouble, TheOthersShrinkTheCommunicator) {
  const auto ended = run_with_one_that_leaves({"--recover-by=shrink"});
  if (is_before("2.27")) {
    EXPECT_EQ(WEXITSTATUS(ended.status[0]), 3) << ended.text();
    EXPECT_THAT(ended.said[0], HasSubstr("has no ncclCommShrink"));
  } else {
    others_finished(ended);
  }
}

TEST_P(TrainerOverDouble, TheOthersRevokeAndShrink) {
  const auto ended = run_with_one_that_leaves({"--recover-by=revoke"});
  if (is_before("2.29")) {
    EXPECT_EQ(WEXITSTATUS(ended.status[0]), 3) << ended.text();
    EXPECT_THAT(ended.said[0], HasSubstr("has no ncclCommRevoke"));
  } else {
    others_finished(ended);
  }
}

TEST_P(TrainerOverDouble, ARankThatNeverComesIsWaitedForAsLongAsWasAsked) {
  const auto ended = run(2, {"--steps=5", "--join-timeout=300ms"}, {{1, {"--store={folder}/elsewhere"}}});
  for (size_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(WEXITSTATUS(ended.status[rank]), 3) << ended.text();
    EXPECT_THAT(ended.said[rank], HasSubstr("step 0: timeout: init failed: 3"));
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, TrainerOverDouble, testing::ValuesIn(newest_nccl_version()), version_name);
INSTANTIATE_TEST_SUITE_P(Soak, TrainerOverDouble, testing::ValuesIn(older_nccl_versions()), version_name);

}  // namespace
}  // namespace rankfault::test
