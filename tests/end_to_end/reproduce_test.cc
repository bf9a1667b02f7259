// reproduce: what a job left behind, a small scenario of it, and the same hang.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Reproduce : public testing::Test {
 protected:
  // A run of the catalogue, with its fault: the directory.
  std::string broken(const std::string& scenario) {
    const std::string dir = scratch_.file("broken");
    const ToolRun run = run_tool({"run", source_dir() + "/scenarios/" + scenario, "--run-dir", dir});
    EXPECT_EQ(run.status, 0) << run.output;
    return dir;
  }

  ToolRun reproduce(std::vector<std::string> words) {
    words.insert(words.begin(), "reproduce");
    words.insert(words.end(), {"--out", small_, "--case", case_, "--runs", scratch_.file("runs")});
    return run_tool(words);
  }

  ToolRun run_small(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"run", small_, "--runs", scratch_.file("runs")};
    words.insert(words.end(), more.begin(), more.end());
    return run_tool(words);
  }

  Json known() const { return Json::parse(read_file(case_)); }

  // What the watchdogs of all ranks but one write.
  std::string watchdogs(int ranks, int silent) const {
    std::string text;
    for (int r = 0; r < ranks; ++r)
      if (r != silent)
        text += "node" + std::to_string(r / 8) + ": [rank" + std::to_string(r) +
                "]:[E ProcessGroupNCCL.cpp:632] [Rank " + std::to_string(r) +
                "] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4001, OpType=ALLREDUCE, "
                "NumelIn=25000000, NumelOut=25000000, Timeout(ms)=600000) ran for 600012 milliseconds before "
                "timing out.\n";
    return text;
  }

  Scratch scratch_;
  const std::string small_ = scratch_.file("small.yaml"), case_ = scratch_.file("case.json");
};

// Needs a job that can hang: the trainer or the replaying program. Both are built only where Gloo is
// installed.
class ReproduceOverGloo : public Reproduce {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(build_dir() + "/bin/trainer")) GTEST_SKIP() << "no gloo in this build";
  }
};

TEST_F(ReproduceOverGloo, ARecordedRunOfALeftOutCall) {
  const std::string dir = broken("hang/skip-allreduce.yaml");
  const ToolRun made = reproduce({dir});
  ASSERT_EQ(made.status, 0) << made.output;
  EXPECT_THAT(made.output, HasSubstr("the same hang in 1 of 1 run"));
  EXPECT_EQ(known()["state"]["ranks"], Json::array({3}));
  EXPECT_THAT(read_file(small_), HasSubstr("kind: skip_call"));
  EXPECT_EQ(run_small().status, 0);
  // The mutation: with the fault on another rank, the scenario fails.
  EXPECT_EQ(run_small({"--set", "faults.divergence.ranks=[0]"}).status, 1);
}

TEST_F(ReproduceOverGloo, ItsLogsAlone) {
  const std::string dir = broken("hang/skip-allreduce.yaml");
  const ToolRun made = reproduce({dir + "/logs"});
  ASSERT_EQ(made.status, 0) << made.output;
  EXPECT_EQ(known()["state"]["ranks"], Json::array({3}));
  EXPECT_THAT(made.output, HasSubstr("guessed"));
  EXPECT_EQ(run_small().status, 0);
}

TEST_F(ReproduceOverGloo, AKilledRank) {
  const ToolRun made = reproduce({broken("crash/kill-rank.yaml")});
  ASSERT_EQ(made.status, 0) << made.output;
  EXPECT_THAT(read_file(small_), HasSubstr("kind: rank_kill"));
}

TEST_F(ReproduceOverGloo, CommunicatorsInAnotherOrder) {
  const ToolRun made = reproduce({broken("hang/axes-in-another-order.yaml")});
  ASSERT_EQ(made.status, 0) << made.output;
  EXPECT_THAT(read_file(small_), HasSubstr("bug: {args: [--diverge]"));
  EXPECT_EQ(run_small().status, 0);
}

TEST_F(ReproduceOverGloo, TheLogOf63RanksOf64) {
  const ToolRun made =
      reproduce({scratch_.write("job.log", watchdogs(64, 43)), "--over", "gloo", "--times", "2"});
  ASSERT_EQ(made.status, 0) << made.output;
  EXPECT_THAT(made.output, HasSubstr("the same hang in 2 of 2 runs"));
  EXPECT_THAT(made.output, HasSubstr("of the 64 ranks stay"));
  const Json state = known()["state"];
  const auto culprit = state["ranks"][0].get<size_t>();
  EXPECT_EQ(known()["ranks"][culprit]["rank_in_evidence"], 43);
}

TEST_F(ReproduceOverGloo, ShrinksAndShowsDefences) {
  const std::string dir = broken("hang/skip-allreduce.yaml");
  const ToolRun made = reproduce({dir, "--shrink", "--defences"});
  ASSERT_EQ(made.status, 0) << made.output;
  EXPECT_THAT(made.output, HasSubstr("smaller"));
  EXPECT_THAT(made.output, HasSubstr("limit: catches it after"));
  EXPECT_EQ(run_small().status, 0);
}

TEST_F(ReproduceOverGloo, AHealthyRunHasNothingToReproduce) {
  const std::string dir = scratch_.file("healthy");
  ASSERT_EQ(run_tool({"watch", "--ranks", "2", "--run-dir", dir, "--", build_dir() + "/bin/trainer",
                      "--store=" + scratch_.file("store"), "--steps=3"})
                .status,
            0);
  const ToolRun made = reproduce({dir});
  EXPECT_EQ(made.status, 2) << made.output;
  EXPECT_FALSE(std::filesystem::exists(small_));
}

TEST_F(Reproduce, LogsThatNameNoCallClaimNothing) {
  const ToolRun made =
      reproduce({scratch_.write("job.log", "step 1\nstep 2\nNCCL INFO Bootstrap\nKilled\n")});
  EXPECT_EQ(made.status, 2) << made.output;
  EXPECT_THAT(made.output, HasSubstr("names no communication call"));
  EXPECT_THAT(made.output, Not(HasSubstr("the same hang")));
}

TEST_F(ReproduceOverGloo, OneMessageSaysWhatIsMissing) {
  const std::string log = scratch_.write("job.log", watchdogs(1, -1));
  const ToolRun made = reproduce({log, "--over", "gloo"});
  EXPECT_EQ(made.status, 2) << made.output;
  EXPECT_THAT(made.output, HasSubstr("--absent RANK"));
  EXPECT_EQ(reproduce({log, "--over", "gloo", "--absent", "1", "--force"}).status, 0);
}

TEST_F(Reproduce, HostileBytesAreALogWithoutAHang) {
  std::string bytes;
  for (int i = 0; i < 100000; ++i) bytes += static_cast<char>(i * 7919 >> 3);
  const ToolRun made = reproduce({scratch_.write("job.log", bytes)});
  EXPECT_EQ(made.status, 2) << made.output;
}

TEST_F(Reproduce, RefusesWrongWords) {
  const std::string log = scratch_.write("job.log", watchdogs(4, 2));
  for (const std::vector<std::string>& words : {std::vector<std::string>{log, "--over", "smoke-signals"},
                                                {log, "--ranks", "1"},
                                                {log, "--times", "0"},
                                                {log, "--name", "a/b"},
                                                {log, "--calls", "0"}})
    EXPECT_EQ(reproduce(words).status, 64) << words[1];
  EXPECT_NE(reproduce({scratch_.file("nothing-there")}).status, 0);
  scratch_.write("small.yaml", "mine");
  EXPECT_EQ(reproduce({log}).status, 64);
  EXPECT_EQ(read_file(small_), "mine");
}

}  // namespace
}  // namespace rankfault::test
