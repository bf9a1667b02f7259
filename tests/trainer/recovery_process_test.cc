// Recovery tests with real ranks: meeting again, the supervisor, halved micro-batches, preflight.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/trainer/trainer_job.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string healthy_weights() {
  static const std::string weights = run_job({1, {"--steps=20"}}).weights();
  EXPECT_NE(weights, "");
  return weights;
}

// Rank 1 makes no step and leaves at the first error. The others continue without it, in the same processes.
TEST(Recovery, ThoseLeftMeetAgainAndEndWithTheSameBits) {
  const JobResult result =
      run_job({3,
               {"--steps=20", "--collective-timeout=300ms", "--recoveries=1", "--meet-again=1s"},
               {{1, {"--steps=0", "--recoveries=0"}}}});
  EXPECT_THAT(result.exit_codes, ElementsAre(0, 3, 0)) << result.output;
  EXPECT_THAT(result.output, HasSubstr("rank 1 of 2 in generation 1 was started as rank 2"));
  EXPECT_EQ(result.weights(), healthy_weights());
}

TEST(Recovery, MeetingAgainIsBounded) {
  // In each generation rank 1 makes no step, and comes again, which is allowed only twice.
  const JobResult result =
      run_job({2, {"--steps=5", "--collective-timeout=300ms", "--recoveries=2"}, {{1, {"--steps=0"}}}});
  EXPECT_THAT(result.exit_codes, Each(3)) << result.output;
  EXPECT_THAT(result.output, HasSubstr("in generation 2"));
  EXPECT_THAT(result.output, Not(HasSubstr("in generation 3")));
}

TEST(OutOfMemory, HalvingKeepsTheBatchAndTheBits) {
  for (const char* size : {"--steps=20", "--micro-batch=8"})
    EXPECT_EQ(run_job({4, {"--steps=20", "--fits=3:1", size}}).weights(), healthy_weights()) << size;
}

TEST(OutOfMemory, WithoutHalvingAllRanksLeaveTogether) {
  const JobResult result = run_job({3, {"--steps=20", "--fits=3:1", "--no-halving"}});
  EXPECT_THAT(result.exit_codes, Each(5)) << result.output;
  EXPECT_THAT(result.output, HasSubstr("rank 1: step 1: out of memory"));
  EXPECT_THAT(result.output, HasSubstr("rank 2: step 1: leaving, a peer has failed"));
}

TEST(Preflight, ADefectOfOneRankStopsAllBeforeTheFirstStep) {
  ::setenv("NCCL_TIMEOUT", "600", 1);
  const JobResult result = run_job({2, {"--steps=20", "--preflight"}});
  ::unsetenv("NCCL_TIMEOUT");
  EXPECT_THAT(result.exit_codes, Each(9)) << result.output;
  EXPECT_THAT(result.output, HasSubstr("rank 1: preflight: NCCL_TIMEOUT=600 does nothing"));
}

class Supervisor : public testing::Test {
 protected:
  Supervisor() {
    std::string form = (fs::temp_directory_path() / "supervisor.XXXXXX").string();
    directory_ = mkdtemp(form.data());
    bin_ = std::string(std::getenv("RANKFAULT_BUILD_DIR")) + "/bin";
  }
  ~Supervisor() override { fs::remove_all(directory_); }

  // The ranks run `script`, which gets the trainer's command in "$@".
  int run(const std::string& flags, const std::string& script) {
    const std::string file = directory_ / "rank.sh", log = directory_ / "log";
    std::ofstream(file) << script << "\n";
    const std::string command =
        bin_ + "/trainer_supervisor --ranks=2 --grace=300ms --store=" + (directory_ / "store").string() +
        " " + flags + " -- /bin/sh " + file + " " + bin_ +
        "/trainer --steps=20 --checkpoint-every=5 --checkpoint-dir=" + (directory_ / "ckpt").string() + " >" +
        log + " 2>&1";
    const int status = std::system(command.c_str());
    std::ifstream stream(log);
    output_ = {std::istreambuf_iterator<char>(stream), {}};
    return WEXITSTATUS(status);
  }
  // In its first attempt each rank also gets `argument`.
  std::string first_time(const std::string& argument) const {
    return "if mkdir " + directory_.string() + "/first-$RANK 2>/dev/null; then exec \"$@\" " + argument +
           "; else exec \"$@\"; fi";
  }

  fs::path directory_;
  std::string bin_, output_;
};

TEST_F(Supervisor, RestartsFromTheNewestCheckpoint) {
  EXPECT_EQ(run("--failures=1", first_time("--bad-sample=13:1")), 0) << output_;
  EXPECT_THAT(output_, HasSubstr("resumed from the checkpoint of step 10"));
  EXPECT_THAT(output_, HasSubstr("weights " + healthy_weights()));
}

TEST_F(Supervisor, EscalatesWhenTheWindowIsFull) {
  EXPECT_EQ(run("--failures=2 --window=60m", "exec \"$@\" --bad-sample=13:1"), 7) << output_;
  EXPECT_THAT(output_, HasSubstr("attempt 2:"));
  EXPECT_THAT(output_, Not(HasSubstr("attempt 3:")));
  EXPECT_THAT(output_, HasSubstr("escalating: the failure window is full"));
}

TEST_F(Supervisor, AWindowOfNoneEscalatesAtOnce) {
  EXPECT_EQ(run("--failures=0", first_time("--bad-sample=13:1")), 7) << output_;
  EXPECT_THAT(output_, Not(HasSubstr("attempt 1")));
}

TEST_F(Supervisor, FailuresThatLieFarApartAreNoReasonToStop) {
  // With a window of 0 ms every failure is old: four failures, although a window allows only one restart.
  EXPECT_EQ(run("--failures=1 --window=0ms",
                "for n in 1 2 3 4; do mkdir " + directory_.string() +
                    "/$RANK.$n 2>/dev/null && exec \"$@\" --bad-sample=13:1; done; exec \"$@\""),
            0)
      << output_;
  EXPECT_THAT(output_, HasSubstr("attempt 3:"));
}

TEST_F(Supervisor, ARankThatWasKilledIsAFailureAndTakesItsNodeWithIt) {
  EXPECT_EQ(run("--failures=0", "[ $RANK = 1 ] && kill -9 $$; exec \"$@\""), 7) << output_;
  EXPECT_THAT(output_, HasSubstr("rank 1 failed with status 137"));
}

TEST_F(Supervisor, WhatARestartDoesNotCureIsNotRestarted) {
  EXPECT_EQ(run("--failures=3", "exec \"$@\" --fast"), 7) << output_;
  EXPECT_THAT(output_, HasSubstr("a restart does not cure that"));
  EXPECT_THAT(output_, Not(HasSubstr("attempt 1")));
}

}  // namespace
}  // namespace trainer
