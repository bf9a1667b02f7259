// Trainer tests with real ranks: equal bits for any world size, resume, timeouts and switches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/trainer/trainer_job.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string weights_of(const Job& job) {
  const JobResult result = run_job(job);
  EXPECT_THAT(result.exit_codes, Each(0)) << result.output;
  EXPECT_NE(result.weights(), "") << result.output;
  return result.weights();
}

TEST(Trainer, WeightsAreTheSameBitsForOneToFourRanks) {
  const std::string one = weights_of({1, {"--steps=20"}});
  for (int ranks : {2, 3, 4}) EXPECT_EQ(weights_of({ranks, {"--steps=20"}}), one) << ranks << " ranks";
}

TEST(Trainer, WeightsAreTheSameBitsForAnyNumberOfBuckets) {
  const std::string one = weights_of({3, {"--steps=20", "--buckets=1"}});
  for (const char* buckets : {"--buckets=3", "--buckets=8"}) {
    EXPECT_EQ(weights_of({3, {"--steps=20", buckets}}), one) << buckets;
  }
}

TEST(Trainer, WeightsAreTheSameBitsHoweverTheRanksAreGrouped) {
  const std::string one = weights_of({1, {"--steps=20"}});
  for (const char* groups : {"--grid=2x2x2", "--grid=1x2x4", "--node-size=4", "--node-size=3"})
    EXPECT_EQ(weights_of({8, {"--steps=20", groups}}), one) << groups;
  EXPECT_EQ(weights_of({2, {"--steps=20", "--evaluate-every=5", "--progress-check=4"}}), one);
}

TEST(Trainer, AllStopTogetherWhenTheDataEndsForSome) {
  // 19 batches of 32, and a last one with three samples: rank 3 of 4 gets none of them.
  const std::string whole = weights_of({1, {"--steps=20", "--samples=611"}});
  EXPECT_EQ(weights_of({4, {"--steps=20", "--samples=611", "--end-of-data=join"}}), whole);
  const std::string dropped = weights_of({1, {"--steps=19"}});
  EXPECT_NE(dropped, whole);
  for (const char* policy : {"--end-of-data=flag", "--end-of-data=drop-last", "--end-of-data=agree"})
    EXPECT_EQ(weights_of({4, {"--steps=20", "--samples=611", policy}}), dropped) << policy;
  const JobResult left =
      run_job({4, {"--steps=20", "--samples=611", "--end-of-data=leave", "--collective-timeout=500ms"}});
  EXPECT_THAT(left.exit_codes, Each(3)) << left.output;
}

TEST(Trainer, TheProgressCheckTellsWhoIsElsewhere) {
  const JobResult result =
      run_job({3, {"--steps=20", "--jumped-step=7:1", "--progress-check=5", "--no-sequence-check"}});
  EXPECT_THAT(result.exit_codes, Each(4)) << result.output;
  EXPECT_THAT(result.output, HasSubstr("rank 0: step 10: rank 1 is at step 11"));
}

TEST(Trainer, AGridThatDoesNotFitTheWorldIsRefused) {
  const JobResult result = run_job({3, {"--grid=2x2x1"}});
  EXPECT_THAT(result.exit_codes, Each(64));
  EXPECT_THAT(result.output, HasSubstr("--grid has 4 places for 3 ranks"));
}

TEST(Trainer, OnlyAFlatWorldMayShrink) {
  const JobResult result = run_job({4, {"--grid=2x2x1", "--recover-by=shrink", "--recoveries=1"}});
  EXPECT_THAT(result.exit_codes, Each(64));
  EXPECT_THAT(result.output, HasSubstr("--recover-by: only a flat world shrinks"));
}

TEST(Trainer, WeightsFollowSeedStepsAndBatch) {
  const std::string one = weights_of({1, {"--steps=20"}});
  for (const char* other : {"--seed=2", "--steps=21", "--batch=33"}) {
    EXPECT_NE(weights_of({1, {"--steps=20", other}}), one) << other;
  }
}

TEST(Trainer, FloatSumsDependOnTheWorldSize) {
  EXPECT_NE(weights_of({4, {"--steps=20", "--float"}}), weights_of({1, {"--steps=20", "--float"}}));
}

TEST(Trainer, NoDefenceChangesTheResultOfAHealthyRun) {
  const std::string expected = weights_of({2, {"--steps=20"}});
  for (const char* off : {"--no-sequence-check", "--no-error-flag", "--no-stop-on-error", "--no-fsync",
                          "--no-rename", "--no-checksum", "--no-resume", "--collective-timeout=none"}) {
    EXPECT_EQ(weights_of({2, {"--steps=20", off}}), expected) << off;
  }
}

TEST(Trainer, RanksThatMakeDifferentCallsDoNotFinish) {
  const JobResult result =
      run_job({2, {"--steps=5", "--collective-timeout=500ms"}, {{1, {"--no-error-flag"}}}});
  EXPECT_THAT(result.exit_codes, Each(AnyOf(3, 4))) << result.output;
}

// Gloo writes to a peer that has ended: SIGPIPE must not end the trainer.
TEST(Trainer, ABrokenPipeIsNotItsEnd) {
  const char* build = std::getenv("RANKFAULT_BUILD_DIR");
  ASSERT_TRUE(build);
  const std::string trainer = std::string(build) + "/bin/trainer";
  const std::string script = "\"" + trainer + "\" --steps=300 | true; exit ${PIPESTATUS[0]}";
  EXPECT_EQ(std::system(("bash -c '" + script + "'").c_str()), 0);
}

// Rank 1 sums the gradients of other samples into the same calls. Only the bits of the results could show
// this, and they do not, because a reduction gives all ranks the same result. The check does not compare what
// each rank adds.
TEST(Trainer, AgreesOnResultsNotOnShares) {
  const JobResult result = run_job({2, {"--steps=5"}, {{1, {"--seed=2"}}}});
  EXPECT_THAT(result.exit_codes, Each(0)) << result.output;
}

TEST(Trainer, AMissingPeerIsATimeoutInTimeWithExitCode3) {
  // Rank 1 makes no step and waits in its last barrier without a limit: rank 0 must leave by itself.
  const JobResult result = run_job(
      {2, {"--steps=5", "--collective-timeout=300ms"}, {{1, {"--steps=0", "--collective-timeout=none"}}}});
  EXPECT_THAT(result.exit_codes, ElementsAre(3, 3)) << result.output;
  EXPECT_THAT(result.output,
              ContainsRegex("rank 0: step 1: timeout: all_reduce failed after [3-9][0-9][0-9] ms"));
  EXPECT_THAT(result.output, HasSubstr("rank 1: step 1: peer_lost: barrier failed"));
}

TEST(Trainer, UnknownOptionsEndIt) {
  const JobResult result = run_job({1, {"--fast"}});
  EXPECT_THAT(result.exit_codes, ElementsAre(64));
  EXPECT_THAT(result.output, HasSubstr("unknown option --fast"));
}

class TrainerCheckpoints : public testing::Test {
 protected:
  TrainerCheckpoints() {
    std::string form = (fs::temp_directory_path() / "trainer_run.XXXXXX").string();
    directory_ = mkdtemp(form.data());
  }
  ~TrainerCheckpoints() override { fs::remove_all(directory_); }

  JobResult run(int ranks, const std::string& steps, const std::vector<std::string>& more = {}) {
    Job job{ranks, {"--steps=" + steps, "--checkpoint-dir=" + directory_.string()}};
    job.arguments.insert(job.arguments.end(), more.begin(), more.end());
    return run_job(job);
  }

  fs::path directory_;
};

TEST_F(TrainerCheckpoints, AResumedRunEndsWithTheSameBitsAtAnyWorldSize) {
  const std::string expected = weights_of({1, {"--steps=40"}});
  run(3, "25");
  const JobResult resumed = run(2, "40");
  EXPECT_THAT(resumed.output, HasSubstr("resumed from the checkpoint of step 20"));
  EXPECT_EQ(resumed.weights(), expected);
}

TEST_F(TrainerCheckpoints, ATornNewestOneCostsAnIntervalAndNoBits) {
  const std::string expected = weights_of({1, {"--steps=40"}});
  run(2, "25");
  fs::resize_file(directory_ / "ckpt-00000020.bin", 1000);
  const JobResult resumed = run(2, "40");
  EXPECT_THAT(resumed.output, HasSubstr("ckpt-00000020.bin has 1000 bytes"));
  EXPECT_THAT(resumed.output, HasSubstr("resumed from the checkpoint of step 10"));
  EXPECT_EQ(resumed.weights(), expected);
}

TEST_F(TrainerCheckpoints, WithoutResumeItStartsAtTheBeginning) {
  run(2, "20");
  const JobResult again = run(2, "40", {"--no-resume"});
  EXPECT_THAT(again.output, Not(HasSubstr("resumed")));
  EXPECT_EQ(again.weights(), weights_of({1, {"--steps=40"}}));
}

TEST_F(TrainerCheckpoints, ADamagedOneIsBelievedOnlyWithoutTheChecksum) {
  run(1, "10");
  std::fstream(directory_ / "ckpt-00000010.bin", std::ios::in | std::ios::out | std::ios::binary)
      .seekp(200)
      .put('x');
  const std::string expected = weights_of({1, {"--steps=15"}});
  EXPECT_EQ(run(1, "15").weights(), expected);
  std::fstream(directory_ / "ckpt-00000010.bin", std::ios::in | std::ios::out | std::ios::binary)
      .seekp(200)
      .put('x');
  EXPECT_NE(run(1, "15", {"--no-checksum"}).weights(), expected);
}

TEST_F(TrainerCheckpoints, AFailedCheckpointMakesAllRanksLeaveInTheSameStep) {
  fs::create_directories(directory_ / "ckpt-00000010.bin.tmp" / "in the way");
  const JobResult result = run(3, "40");
  EXPECT_THAT(result.exit_codes, Each(5)) << result.output;
  EXPECT_THAT(result.output, HasSubstr("rank 2: step 11: leaving, a peer has failed"));
}

}  // namespace
}  // namespace trainer
