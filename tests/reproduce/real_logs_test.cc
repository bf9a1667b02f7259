// real_logs_test: excerpts of logs that real jobs wrote (PyTorch 2.12 and 2.13, NCCL 2.29, Open MPI 4.1,
// Gloo).
#include <gtest/gtest.h>

#include <algorithm>

#include "log_samples.h"
#include "tests/support/tool.h"

namespace rankfault {
namespace {

class RealLogs : public ::testing::Test {
 protected:
  static std::vector<Clue> clues_in(const std::string& name) {
    const Result<LogClues> clues = read_log(test::source_dir() + "/tests/reproduce/logs/" + name);
    EXPECT_TRUE(clues.ok()) << clues.error().to_string();
    return clues.ok() ? clues->clues : std::vector<Clue>{};
  }
};

TEST_F(RealLogs, TorchNcclWatchdog) {
  const std::vector<Clue> clues = clues_in("torch_nccl_watchdog.log");
  ASSERT_EQ(clues.size(), 4u);
  EXPECT_EQ(clues[0].kind, ClueKind::kCallTimedOut);
  EXPECT_EQ(clues[0].rank, 0);
  EXPECT_EQ(clues[0].op, "all_reduce");
  EXPECT_EQ(clues[0].seq, 7);
  EXPECT_EQ(clues[0].numel_in, 1000);
  EXPECT_EQ(clues[0].times, 3u);
  EXPECT_EQ(clues[1].kind, ClueKind::kProgress);
  EXPECT_EQ(clues[1].last_enqueued, 7);
  EXPECT_EQ(clues[1].last_completed, 6);
  EXPECT_EQ(clues[2].kind, ClueKind::kStack);
  EXPECT_EQ(clues[2].op, "all_reduce");
  EXPECT_EQ(clues[2].frames[3], "train_step (workloads/pytorch_nccl/steps.py:105)");
  EXPECT_EQ(clues[3].kind, ClueKind::kProgress);
}

TEST_F(RealLogs, TorchrunAfterAKill) {
  const std::vector<Clue> ends = of_kind(clues_in("torchrun_killed.log"), ClueKind::kEnded);
  ASSERT_EQ(ends.size(), 6u);
  EXPECT_EQ(ends[2].signal, 9);
  EXPECT_TRUE(ends[2].rank_is_local);
  EXPECT_EQ(ends[5].rank, 1);
  EXPECT_EQ(ends[5].signal, 9);
  EXPECT_EQ(ends[5].pid, 4853);
  EXPECT_EQ(ends[5].reason, "first observed failure");
}

TEST_F(RealLogs, GlooUnderDdp) {
  const std::vector<Clue> clues = clues_in("ddp_gloo_timeout.log");
  ASSERT_EQ(clues.size(), 2u);
  const std::vector<Clue> late = of_kind(clues, ClueKind::kCallTimedOut);
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].limit_ms, 2000);
  EXPECT_EQ(late[0].rank, 1);
  const std::vector<Clue> raised = of_kind(clues, ClueKind::kLibraryError);
  ASSERT_EQ(raised.size(), 1u);
  EXPECT_EQ(raised[0].rank, 1);
  EXPECT_EQ(raised[0].frames.back(), "<module> (workloads/ddp.py:61)");
}

TEST_F(RealLogs, OpenMpi) {
  const std::vector<Clue> killed = clues_in("openmpi_killed.log");
  ASSERT_EQ(killed.size(), 1u);
  EXPECT_EQ(killed[0].rank, 2);
  EXPECT_EQ(killed[0].signal, 9);
  const std::vector<Clue> errors = clues_in("openmpi_error.log");
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].op, "all_to_allv");
  EXPECT_EQ(errors[0].rank, 2);
  EXPECT_EQ(errors[1].rank, 3);
  EXPECT_EQ(errors[1].code, 3);
}

TEST_F(RealLogs, OpenMpi5) {
  const std::vector<Clue> killed = clues_in("openmpi5_killed.log");
  ASSERT_EQ(killed.size(), 1u);
  EXPECT_EQ(killed[0].rank, 1);
  EXPECT_EQ(killed[0].signal, 9);
  EXPECT_EQ(killed[0].pid, 30149);
}

TEST_F(RealLogs, PySpyOfThreeRanks) {
  const std::vector<Clue> stacks = clues_in("py_spy_three_ranks.log");
  ASSERT_EQ(stacks.size(), 3u);
  EXPECT_EQ(stacks[0].op, "all_reduce");
  EXPECT_EQ(stacks[1].op, "");
  EXPECT_EQ(stacks[1].frames, (std::vector<std::string>{"<module> (train.py:16)"}));
  EXPECT_EQ(stacks[2].op, "all_reduce");
}

TEST_F(RealLogs, TorchMonitoredBarrier) {
  const std::vector<Clue> clues = clues_in("torch_monitored_barrier.log");
  const std::vector<Clue> absent = of_kind(clues, ClueKind::kDiffers);
  ASSERT_EQ(absent.size(), 2u);
  for (const Clue& clue : absent) {
    EXPECT_EQ(clue.about, (Ranks{1}));
    EXPECT_EQ(clue.limit_ms, 3000);
    EXPECT_EQ(clue.rank, 0);
  }
  const std::vector<Clue> raised = of_kind(clues, ClueKind::kLibraryError);
  EXPECT_TRUE(std::any_of(raised.begin(), raised.end(), [](const Clue& c) { return c.op == "barrier"; }));
}

TEST_F(RealLogs, NcclSharedMemory) {
  const std::vector<Clue> refused = of_kind(clues_in("nccl_shm_unlinked.log"), ClueKind::kHostResource);
  ASSERT_EQ(refused.size(), 2u);
  EXPECT_EQ(refused[0].host_call, "open");
  EXPECT_EQ(refused[1].path, "/dev/shm/nccl-8x4jb6");
  EXPECT_EQ(refused[1].host_call, "attaching to shared memory segment");
}

// A report of a job that runs: RAS asks the ranks one after another, so their counts differ by one.
TEST_F(RealLogs, NcclRas) {
  const std::vector<Clue> text = clues_in("nccl_ras.log");
  ASSERT_EQ(text.size(), 1u);
  EXPECT_EQ(text[0].kind, ClueKind::kDiffers);
  EXPECT_EQ(text[0].op, "all_reduce");
  EXPECT_EQ(text[0].last_enqueued, 1373);
  EXPECT_TRUE(text[0].about.empty());  // RAS lists no rank where half of them differ
  const std::vector<Clue> json = clues_in("nccl_ras_json.log");
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0].kind, ClueKind::kPeerLost);
  EXPECT_EQ(json[0].about, (Ranks{2}));
  EXPECT_EQ(json[0].pid, 3411);
}

TEST_F(RealLogs, GlooRankThatNeverCame) {
  const std::vector<Clue> clues = clues_in("gloo_rank_missing.log");
  ASSERT_EQ(clues.size(), 1u);
  EXPECT_EQ(clues[0].kind, ClueKind::kNotJoined);
  EXPECT_EQ(clues[0].about, (Ranks{2}));
}

}  // namespace
}  // namespace rankfault
