// node_test: the launcher of a rank is found below the guardian, and a node is all that the launcher started.
#include "harness/inject/node.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace rankfault::test {
namespace {

// This test is the guardian. It starts a launcher, whose child is a rank, whose child is a helper.
class Node : public testing::Test {
 protected:
  Node() {
    int told[2];
    EXPECT_EQ(::pipe(told), 0);
    launcher_ = ::fork();
    if (launcher_ == 0) be(told[1], 2);
    ::close(told[1]);
    EXPECT_EQ(::read(told[0], &rank_, sizeof rank_), ssize_t{sizeof rank_});
    EXPECT_EQ(::read(told[0], &helper_, sizeof helper_), ssize_t{sizeof helper_});
    ::close(told[0]);
  }
  ~Node() override {
    for (const int pid : {helper_, rank_, launcher_}) ::kill(pid, SIGKILL);
    ::waitpid(launcher_, nullptr, 0);
  }
  // Starts this many generations, each of which sends the pid of its child, and stays.
  [[noreturn]] static void be(int to, int generations) {
    if (generations > 0) {
      const int child = ::fork();
      if (child == 0) {
        const int own = ::getpid();
        (void)!::write(to, &own, sizeof own);
        be(to, generations - 1);
      }
    }
    for (;;) ::pause();
  }
  int launcher_ = 0, rank_ = 0, helper_ = 0;
};

TEST_F(Node, TheLauncherIsTheAncestorBelowTheGuardian) {
  for (const int pid : {rank_, helper_}) {
    const auto found = launcher_of(pid, ::getpid());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->pid, launcher_);
  }
}

TEST_F(Node, WhatTheGuardianStartedItselfHasNoLauncher) {
  EXPECT_FALSE(launcher_of(launcher_, ::getpid()));
  EXPECT_FALSE(launcher_of(::getpid(), ::getpid()));
  EXPECT_FALSE(launcher_of(::getppid(), ::getpid()));
  EXPECT_FALSE(launcher_of(helper_, 999'999'999));  // of another job
}

TEST_F(Node, IsAllThatTheLauncherStarted) {
  const std::vector<ProcStat> all = started_by(*proc_stat(launcher_));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].pid, std::min(rank_, helper_));
  EXPECT_EQ(all[1].pid, std::max(rank_, helper_));
}

}  // namespace
}  // namespace rankfault::test
