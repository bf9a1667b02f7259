// promptness_test: which threads get priority over the ranks, and for how long.
#include "harness/live/promptness.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <thread>

namespace rankfault::test {
namespace {

constexpr uint64_t kMs = 1'000'000, kSecond = 1000 * kMs;

int policy() { return ::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK; }

// Tries it in a child, so that this process stays unchanged.
bool may_be_realtime() {
  const int child = ::fork();
  const sched_param least{1};
  if (child == 0) ::_exit(::sched_setscheduler(0, SCHED_FIFO, &least) == 0 ? 0 : 1);
  int status = 0;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

void use_cpu(uint64_t ns) {
  const auto used = [] {
    timespec t{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<uint64_t>(t.tv_sec) * kSecond + static_cast<uint64_t>(t.tv_nsec);
  };
  for (const uint64_t until = used() + ns; used() < until;) continue;
}

template <typename Work>
void in_a_thread(Work work) {
  std::thread(work).join();
}

TEST(CpuBudget, IsOnePercentOfACore) {
  CpuBudget budget(0);
  budget.charge(0, 10 * kMs - 1);
  EXPECT_TRUE(budget.allows(0));
  budget.charge(0, 1);
  EXPECT_FALSE(budget.allows(0));
  EXPECT_FALSE(budget.allows(99 * kMs));
  EXPECT_TRUE(budget.allows(100 * kMs));
}

TEST(CpuBudget, SavesNoMoreThanASecondGives) {
  CpuBudget budget(0);
  EXPECT_TRUE(budget.allows(3600 * kSecond));
  budget.charge(3600 * kSecond, 10 * kMs);
  EXPECT_FALSE(budget.allows(3600 * kSecond));
}

TEST(CpuBudget, AThreadThatUsesMoreIsOrdinaryMostOfTheTime) {
  CpuBudget budget(0);
  uint64_t allowed = 0;
  for (uint64_t t = 0; t < 10 * kSecond; t += kMs) {
    if (!budget.allows(t)) continue;
    budget.charge(t, kMs / 2);  // half of each millisecond
    allowed += kMs / 2;
  }
  EXPECT_LE(allowed, 10 * kSecond / 100 + 10 * kMs);
}

class PromptnessTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!may_be_realtime()) GTEST_SKIP() << "no right to real-time priority here";
  }
};

TEST_F(PromptnessTest, ASmallThreadHasItAndTheLoopHasNot) {
  Promptness promptness(true);
  EXPECT_EQ(policy(), SCHED_OTHER);
  in_a_thread([&] {
    promptness.enter();
    EXPECT_EQ(policy(), SCHED_FIFO);
    promptness.worked();
    EXPECT_EQ(policy(), SCHED_FIFO);
  });
}

TEST_F(PromptnessTest, AThreadThatUsesItsBudgetUpIsOrdinary) {
  Promptness promptness(true);
  in_a_thread([&] {
    promptness.enter();
    use_cpu(11 * kMs);
    promptness.worked();
    EXPECT_EQ(policy(), SCHED_OTHER);
  });
}

// The kernel takes the priority away if a thread never reaches the point where it is charged. Runs in a
// child: after a misuse the process does not get the priority again.
TEST_F(PromptnessTest, AThreadThatNeverSleepsLosesItForGood) {
  const int child = ::fork();
  if (child == 0) {
    Promptness promptness(true);
    in_a_thread([&] {
      promptness.enter();
      while (policy() == SCHED_FIFO) continue;
    });
    in_a_thread([&] {
      promptness.enter();
      ::_exit(policy());
    });
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), SCHED_OTHER);
}

TEST_F(PromptnessTest, TheLoopIsLentItUntilItHasAnswered) {
  Promptness promptness(true);
  promptness.sleeps();
  in_a_thread([&] { promptness.lend(); });
  EXPECT_EQ(policy(), SCHED_FIFO);
  promptness.wakes();
  EXPECT_EQ(policy(), SCHED_FIFO);
  promptness.answered();
  EXPECT_EQ(policy(), SCHED_OTHER);
}

TEST_F(PromptnessTest, ALoopThatIsAtWorkIsLentNothing) {
  Promptness promptness(true);
  promptness.sleeps();
  promptness.wakes();
  in_a_thread([&] { promptness.lend(); });
  EXPECT_EQ(policy(), SCHED_OTHER);
}

TEST_F(PromptnessTest, WhatIsForkedMeanwhileIsOrdinary) {
  Promptness promptness(true);
  promptness.sleeps();
  in_a_thread([&] { promptness.lend(); });
  const int child = ::fork();
  if (child == 0) ::_exit(policy());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), SCHED_OTHER);
  promptness.answered();
}

TEST_F(PromptnessTest, WhereNobodyWantsItNobodyHasIt) {
  Promptness promptness(false);
  promptness.sleeps();
  in_a_thread([&] {
    promptness.enter();
    promptness.lend();
    EXPECT_EQ(policy(), SCHED_OTHER);
  });
  EXPECT_EQ(policy(), SCHED_OTHER);
}

TEST_F(PromptnessTest, LeavesTheLimitsOfTheProcessAsTheyWere) {
  rlimit before{}, after{};
  ::getrlimit(RLIMIT_RTTIME, &before);
  { const Promptness promptness(true); }
  ::getrlimit(RLIMIT_RTTIME, &after);
  EXPECT_EQ(after.rlim_cur, before.rlim_cur);
  EXPECT_EQ(after.rlim_max, before.rlim_max);
}

}  // namespace
}  // namespace rankfault::test
