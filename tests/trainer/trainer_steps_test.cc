// Trainer step tests with real ranks: limits, chunks, meetings, evaluation, shares, heartbeat.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "tests/trainer/trainer_job.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// The weights that all of these runs must reproduce.
std::string plain_weights() {
  static const std::string weights = run_job({1, {"--steps=20"}}).weights();
  return weights;
}

void expect_same_weights(const Job& job) {
  const JobResult result = run_job(job);
  EXPECT_THAT(result.exit_codes, Each(0)) << result.output;
  EXPECT_EQ(result.weights(), plain_weights()) << result.output;
}

TEST(TrainerSteps, ChunksLeaveTheWeightsTheSameBits) {
  expect_same_weights({3, {"--steps=20", "--chunk-unit=20"}});
  expect_same_weights({4, {"--steps=20", "--chunk-unit=50", "--node-size=2"}});
}

TEST(TrainerSteps, LimitsAndTheirKeepersLeaveTheWeightsTheSameBits) {
  expect_same_weights(
      {2, {"--steps=20", "--phase-limits=small:20s,evaluation:50s", "--size-limits=100:40s"}});
  expect_same_weights({2, {"--steps=20", "--limits-by=watchdog", "--heartbeat=60s"}});
  expect_same_weights({2, {"--steps=20", "--limits-by=alarm"}});
}

TEST(TrainerSteps, SharesBySpeedLeaveTheWeightsTheSameBits) {
  expect_same_weights({3, {"--steps=20", "--deal=by-speed", "--deal-every=3", "--mark-samples"}});
}

TEST(TrainerSteps, MeetingsLeaveTheWeightsTheSameBits) {
  for (const char* by : {"--meet=safe", "--meet=plain"})
    expect_same_weights({3, {"--steps=20", "--meet-every=5", "--meet-limit=30s", by}});
}

TEST(TrainerSteps, AnEvaluationByAllLeavesTheWeightsTheSameBits) {
  std::string directory = (fs::temp_directory_path() / "evaluation.XXXXXX").string();
  ASSERT_TRUE(mkdtemp(directory.data()));
  expect_same_weights({3, {"--steps=20", "--evaluate-every=5", "--evaluation-dir=" + directory}});
  EXPECT_TRUE(fs::exists(directory + "/predictions-2.bin"));
  fs::remove_all(directory);
}

// Ranks 0 and 2 cannot write, and rank 1 evaluates less than half of the data. The evaluation has no result,
// and the job continues.
TEST(TrainerSteps, AnEvaluationThatFailsIsSkipped) {
  std::string directory = (fs::temp_directory_path() / "evaluation.XXXXXX").string();
  ASSERT_TRUE(mkdtemp(directory.data()));
  Job job{3, {"--steps=20", "--evaluate-every=10", "--evaluation-dir=" + directory}};
  for (const int rank : {0, 2})
    fs::create_directories(directory + "/predictions-" + std::to_string(rank) + ".bin");
  expect_same_weights(job);
  job.arguments.push_back("--no-evaluation-fallback");
  job.arguments.push_back("--collective-timeout=1s");
  const JobResult result = run_job(job);
  EXPECT_THAT(result.exit_codes, ElementsAre(5, 3, 5)) << result.output;
  fs::remove_all(directory);
}

// A failed checkpoint of rank 0 does not count as a failure of the evaluation in the same step: all leave
// together.
TEST(TrainerSteps, AFailedCheckpointIsStillToldInTheNextStep) {
  std::string directory = (fs::temp_directory_path() / "evaluation.XXXXXX").string();
  ASSERT_TRUE(mkdtemp(directory.data()));
  fs::create_directories(directory + "/ckpt-00000010.bin.tmp/in the way");
  const JobResult result = run_job({3,
                                    {"--steps=20", "--evaluate-every=10", "--evaluation-dir=" + directory,
                                     "--checkpoint-dir=" + directory}});
  EXPECT_THAT(result.exit_codes, Each(5)) << result.output;
  EXPECT_THAT(result.output, HasSubstr("rank 2: step 11: leaving, a peer has failed"));
  fs::remove_all(directory);
}

// Rank 1 waits in its last barrier, without a limit.
Job rank_1_elsewhere(std::vector<std::string> arguments) {
  arguments.push_back("--steps=5");
  return {2, std::move(arguments), {{1, {"--steps=0", "--limits-by=library", "--collective-timeout=none"}}}};
}

TEST(TrainerSteps, ATimeoutTellsTheCall) {
  const JobResult result = run_job(rank_1_elsewhere({"--collective-timeout=300ms"}));
  EXPECT_THAT(result.exit_codes, ElementsAre(3, 3)) << result.output;
  EXPECT_THAT(result.output, ContainsRegex("rank 0: step 1: timeout: .*ALLREDUCE seq [0-9]+ numel [0-9]+ "
                                           "timeout\\(ms\\) 300 ran for [3-9][0-9][0-9] ms"));
}

TEST(TrainerSteps, AWatchdogFreesARankWhoseLibraryHasNoLimit) {
  const JobResult result = run_job(rank_1_elsewhere({"--limits-by=watchdog", "--collective-timeout=300ms"}));
  EXPECT_THAT(result.exit_codes, ElementsAre(3, 3)) << result.output;
  EXPECT_THAT(result.output, ContainsRegex("watchdog of rank 0: ALLREDUCE seq [0-9]+ numel [0-9]+ "
                                           "timeout\\(ms\\) 300 ran for [0-9]+ ms; it is interrupted"));
  EXPECT_THAT(result.output, HasSubstr("rank 0: step 1: timeout: all_reduce failed after "));
  EXPECT_THAT(result.output, HasSubstr("rank 1: step 1: peer_lost: "));
}

// The alarm fires after 100 ms. The call ends when rank 1 gives up, after two seconds.
TEST(TrainerSteps, AnAlarmFreesNobody) {
  Job job = rank_1_elsewhere({"--limits-by=alarm", "--collective-timeout=100ms"});
  job.only_for_rank[1] = {"--steps=0", "--limits-by=library", "--collective-timeout=2s"};
  const JobResult result = run_job(job);
  EXPECT_THAT(result.exit_codes, ElementsAre(3, 3)) << result.output;
  EXPECT_THAT(result.output,
              ContainsRegex("rank 0: step 1: timeout: .* timeout\\(ms\\) 100 ran for [1-9][0-9][0-9][0-9]"));
}

TEST(TrainerSteps, AHeartbeatThatStopsIsAStackAndAnAbort) {
  Job job = rank_1_elsewhere({"--collective-timeout=none", "--heartbeat=300ms"});
  job.only_for_rank[1].push_back("--heartbeat=60s");  // else its own may stop first, and end rank 0's wait
  const JobResult result = run_job(job);
  EXPECT_THAT(result.exit_codes, ElementsAre(-SIGABRT, 3)) << result.output;
  EXPECT_THAT(result.output, HasSubstr("no progress since step 1 for more than 300 ms; its stack:"));
  EXPECT_THAT(result.output, HasSubstr("libgloo"));
}

TEST(TrainerSteps, OptionsThatDoNotGoTogetherAreRefused) {
  EXPECT_THAT(run_job({2, {"--deal=by-speed", "--samples=100"}}).output, HasSubstr("do not go together"));
  EXPECT_THAT(run_job({3, {"--deal=by-speed", "--batch=2"}}).output,
              HasSubstr("needs a sample for each rank"));
  EXPECT_THAT(
      run_job({2, {"--heartbeat=5s", "--phase-limits=evaluation:5s", "--collective-timeout=1s"}}).output,
      HasSubstr("--heartbeat must be longer than any limit"));
}

}  // namespace
}  // namespace trainer
