// SafeBarrier tests: one answer for all ranks, whichever rank is late.
#include "workloads/trainer/safe_barrier.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

namespace trainer {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class SafeBarrierTest : public testing::Test {
 protected:
  SafeBarrierTest() {
    std::string form = (fs::temp_directory_path() / "safe_barrier.XXXXXX").string();
    directory_ = mkdtemp(form.data());
  }
  ~SafeBarrierTest() override { fs::remove_all(directory_); }

  SafeBarrier rank(int rank, int size) { return {directory_.string(), rank, size}; }

  fs::path directory_;
};

TEST_F(SafeBarrierTest, IsMetWhenAllComeAgainAndAgain) {
  std::vector<std::thread> threads;
  std::atomic<int> met = 0;
  for (int r = 0; r < 4; ++r)
    threads.emplace_back([&, r] {
      SafeBarrier barrier = rank(r, 4);
      for (int round = 0; round < 10; ++round) met += barrier.wait(1h);
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(met, 40);
}

TEST_F(SafeBarrierTest, WhoComesAfterTheDecisionTakesItAndDoesNotWait) {
  SafeBarrier first = rank(0, 2), late = rank(1, 2);
  EXPECT_FALSE(first.wait(1ms));
  EXPECT_FALSE(late.wait(1h));  // all have arrived by now, but the answer does not change
}

TEST_F(SafeBarrierTest, TheNextOneIsAsGoodAsNew) {
  SafeBarrier first = rank(0, 2), late = rank(1, 2);
  EXPECT_FALSE(first.wait(1ms));
  std::thread goes_on([&] { EXPECT_TRUE(first.wait(1h)); });
  EXPECT_FALSE(late.wait(1h));
  EXPECT_TRUE(late.wait(1h));
  goes_on.join();
}

TEST_F(SafeBarrierTest, BelievedAloneTheRanksDisagree) {
  SafeBarrier first = rank(0, 2), late = rank(1, 2);
  EXPECT_FALSE(first.wait_and_believe(1ms));
  EXPECT_TRUE(late.wait_and_believe(1h));
}

// Limits that end just as the last rank comes: either answer is correct, but it is the same for all.
TEST_F(SafeBarrierTest, AnswersAreEqualInARace) {
  constexpr int kRanks = 4, kRounds = 100;
  std::vector<std::vector<bool>> answers(kRanks);
  std::vector<std::thread> threads;
  for (int r = 0; r < kRanks; ++r)
    threads.emplace_back([&, r] {
      SafeBarrier barrier = rank(r, kRanks);
      for (int round = 0; round < kRounds; ++round) answers[r].push_back(barrier.wait(2ms));
    });
  for (auto& thread : threads) thread.join();
  for (int r = 1; r < kRanks; ++r) EXPECT_EQ(answers[r], answers[0]) << "rank " << r;
}

TEST_F(SafeBarrierTest, ADirectoryThatFailsIsAnError) {
  SafeBarrier barrier("/proc/no/such/place", 0, 1);
  EXPECT_THROW(barrier.wait(1h), std::runtime_error);
}

}  // namespace
}  // namespace trainer
