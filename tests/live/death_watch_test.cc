// death_watch_test: a death has the time at which it happened, not the time at which the loop read it.
#include "harness/live/death_watch.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/base/process_tree.h"

namespace rankfault::test {
namespace {

class DeathWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    pid_ = ::fork();
    if (pid_ == 0)
      for (;;) ::pause();
    pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  }
  static ProcessId named(pid_t pid) {
    ProcessId id;
    id.pid = pid;
    id.start = proc_stat(pid)->start;
    return id;
  }
  void TearDown() override { end(); }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  bool rang() {
    pollfd bell{watch_.fd(), POLLIN, 0};
    return ::poll(&bell, 1, 30'000) == 1;
  }
  pid_t pid_ = 0;
  UniqueFd pidfd_;
  Promptness promptness_{false};
  DeathWatch watch_{promptness_};
};

TEST_F(DeathWatchTest, ReportsADeathOnceWithItsTime) {
  ASSERT_TRUE(watch_.add(pidfd_.get(), 7, named(pid_), ""));
  const Instant before = HostClock::now();
  end();
  ASSERT_TRUE(rang());
  const Instant seen = HostClock::now();  // the death was before this
  const auto deaths = watch_.take();
  ASSERT_EQ(deaths.size(), 1u);
  EXPECT_EQ(deaths[0].token, 7u);
  EXPECT_GE(deaths[0].when, before);
  EXPECT_LE(deaths[0].when, seen);
  EXPECT_TRUE(watch_.take().empty());
}

TEST_F(DeathWatchTest, ReportsOneThatIsDeadAlready) {
  ::kill(pid_, SIGKILL);
  siginfo_t info;
  ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  ASSERT_TRUE(watch_.add(pidfd_.get(), 1, named(pid_), ""));
  ASSERT_TRUE(rang());
  EXPECT_EQ(watch_.take().size(), 1u);
}

TEST_F(DeathWatchTest, NotesWhoOutlivedADeath) {
  const pid_t other = ::fork();
  if (other == 0)
    for (;;) ::pause();
  const UniqueFd others(static_cast<int>(::syscall(SYS_pidfd_open, other, 0)));
  ASSERT_TRUE(watch_.add(pidfd_.get(), 1, named(pid_), ""));
  ASSERT_TRUE(watch_.add(others.get(), 2, named(other), ""));
  EXPECT_FALSE(is_known(watch_.outlived(2)));
  end();
  ASSERT_TRUE(rang());
  const auto deaths = watch_.take();
  ASSERT_EQ(deaths.size(), 1u);
  EXPECT_GE(watch_.outlived(2), deaths[0].when);
  EXPECT_FALSE(is_known(watch_.outlived(1)));
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
}

TEST_F(DeathWatchTest, APidfdMayBeClosedAtAnyTime) {
  ASSERT_TRUE(watch_.add(pidfd_.get(), 1, named(pid_), ""));
  pidfd_.reset();
  end();
  EXPECT_TRUE(watch_.take().empty());
}

}  // namespace
}  // namespace rankfault::test
