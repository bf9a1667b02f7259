// foremost_test: the thread that watches comes first, for as long as it watches, and nobody it starts does.
#include "harness/live/foremost.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

namespace rankfault::test {
namespace {

int own_nice() { return ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid())); }
bool comes_first(int nice_before) {
  return ::sched_getscheduler(0) != SCHED_OTHER || own_nice() < nice_before;
}

TEST(Foremost, LastsAsLongAsItLives) {
  const int before = own_nice();
  if (::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), before - 1) != 0)
    GTEST_SKIP() << "no right to raise a priority here";
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), before);
  {
    const Foremost foremost;
    EXPECT_TRUE(comes_first(before));
  }
  EXPECT_EQ(::sched_getscheduler(0), SCHED_OTHER);
  EXPECT_EQ(own_nice(), before);
}

// A rank of real-time priority would keep its neighbours from the processor.
TEST(Foremost, WhatIsForkedMeanwhileIsOrdinary) {
  const Foremost foremost;
  const int child = ::fork();
  if (child == 0) ::_exit(::sched_getscheduler(0));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), SCHED_OTHER);
}

}  // namespace
}  // namespace rankfault::test
