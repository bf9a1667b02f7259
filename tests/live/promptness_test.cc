// promptness_test: which threads get priority over the ranks, and for how long.
#include "harness/live/promptness.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "harness/base/cpu_time.h"

namespace rankfault::test {
namespace {

constexpr Instant kStart{};

int policy() { return ::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK; }

// Tries it in a child, so that this process stays unchanged.
bool may_be_realtime() {
  const int child = ::fork();
  const sched_param least{1};
  if (child == 0) ::_exit(::sched_setscheduler(0, SCHED_FIFO, &least) == 0 ? 0 : 1);
  int status = 0;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

void use_cpu(Duration time) {
  for (const Duration until = thread_cpu_time() + time; thread_cpu_time() < until;) continue;
}

template <typename Work>
void in_a_thread(Work work) {
  std::thread(work).join();
}

TEST(CpuBudget, IsOnePercentOfACore) {
  CpuBudget budget(kStart, 10ms);
  budget.charge(kStart, 10ms - 1ns);
  EXPECT_TRUE(budget.allows(kStart));
  budget.charge(kStart, 1ns);
  EXPECT_FALSE(budget.allows(kStart));
  EXPECT_FALSE(budget.allows(kStart + 99ms));
  EXPECT_TRUE(budget.allows(kStart + 100ms));
}

TEST(CpuBudget, SavesNoMoreThanItsMost) {
  CpuBudget budget(kStart, 10ms);
  EXPECT_TRUE(budget.allows(kStart + 1h));
  budget.charge(kStart + 1h, 10ms);
  EXPECT_FALSE(budget.allows(kStart + 1h));
}

TEST(CpuBudget, AThreadThatUsesMoreIsOrdinaryMostOfTheTime) {
  CpuBudget budget(kStart, 10ms);
  Duration allowed{};
  for (Instant t = kStart; t < kStart + 10s; t += 1ms) {
    if (!budget.allows(t)) continue;
    budget.charge(t, 500us);  // half of each millisecond
    allowed += 500us;
  }
  EXPECT_LE(allowed, 100ms + 10ms);
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
    use_cpu(11ms);
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

// Time stands still unless a test moves it, so no test depends on the speed of the machine.
Instant g_now = kStart + 1h;
Instant test_now() { return g_now; }

// The loop has woken up, and a process dies.
void hurry(Promptness& promptness) {
  promptness.sleeps();
  promptness.wakes();
  in_a_thread([&] { promptness.hurry(); });
}

TEST_F(PromptnessTest, AfterADeathTheLoopHasItForWhatIsUrgentUntilItIsCalm) {
  Promptness promptness(true, test_now);
  hurry(promptness);
  promptness.answered();
  EXPECT_EQ(policy(), SCHED_FIFO);
  EXPECT_TRUE(promptness.hurries());
  promptness.rests();
  EXPECT_EQ(policy(), SCHED_OTHER);
  promptness.sleeps();
  EXPECT_EQ(policy(), SCHED_FIFO);
  promptness.wakes();
  promptness.calm();
  EXPECT_EQ(policy(), SCHED_OTHER);
  EXPECT_FALSE(promptness.hurries());
  promptness.sleeps();
  EXPECT_EQ(policy(), SCHED_OTHER);
}

TEST_F(PromptnessTest, ADeathDuringTheRestWaitsForTheNextSleep) {
  Promptness promptness(true, test_now);
  promptness.sleeps();
  promptness.wakes();
  promptness.rests();
  in_a_thread([&] { promptness.hurry(); });
  EXPECT_EQ(policy(), SCHED_OTHER);
  promptness.sleeps();
  EXPECT_EQ(policy(), SCHED_FIFO);
}

TEST_F(PromptnessTest, TheProofOfADeathDoesNotEndTheHurryOfALaterOne) {
  Promptness promptness(true, test_now);
  hurry(promptness);
  promptness.sleeps();
  promptness.wakes();
  g_now += 1ms;
  in_a_thread([&] { promptness.hurry(); });
  promptness.calm();
  EXPECT_TRUE(promptness.hurries());
}

TEST_F(PromptnessTest, AGateThatIsAnsweredDoesNotEndTheHurry) {
  Promptness promptness(true, test_now);
  promptness.sleeps();
  in_a_thread([&] {
    promptness.lend();
    promptness.hurry();
  });
  promptness.wakes();
  promptness.answered();
  EXPECT_EQ(policy(), SCHED_FIFO);
}

TEST_F(PromptnessTest, ALoopInAHurryHasNoMoreThanItsBudget) {
  Promptness promptness(true, test_now);
  promptness.sleeps();
  promptness.wakes();
  use_cpu(31ms);  // before the death: it is not charged
  in_a_thread([&] { promptness.hurry(); });
  promptness.sleeps();
  EXPECT_EQ(policy(), SCHED_FIFO);
  use_cpu(31ms);
  promptness.sleeps();
  EXPECT_EQ(policy(), SCHED_OTHER);
}

TEST_F(PromptnessTest, TheHurryEndsByItself) {
  Promptness promptness(true, test_now);
  hurry(promptness);
  g_now += 100ms;
  promptness.wakes();
  EXPECT_EQ(policy(), SCHED_OTHER);
}

TEST_F(PromptnessTest, LeavesNoHurryBehind) {
  {
    Promptness promptness(true, test_now);
    hurry(promptness);
  }
  EXPECT_EQ(policy(), SCHED_OTHER);
}

TEST_F(PromptnessTest, EachRunOfAProcessHasIt) {
  for (int run = 0; run < 3; ++run) {
    Promptness promptness(true, test_now);
    for (int thread = 0; thread < 3; ++thread)
      in_a_thread([&] {
        promptness.enter();
        EXPECT_EQ(policy(), SCHED_FIFO) << run;
      });
    hurry(promptness);
    EXPECT_EQ(policy(), SCHED_FIFO) << run;
  }
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
    promptness.hurry();
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
