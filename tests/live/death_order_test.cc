// Tests of DeathOrder: the order of deaths that happened between two reads.
#include "harness/live/death_order.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

namespace rankfault {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DeathOrderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 4; ++i) {
      const pid_t pid = ::fork();
      if (pid == 0)
        for (;;) ::pause();
      pids_.push_back(pid);
      pidfds_.emplace_back(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
      ASSERT_TRUE(order_.add(pidfds_.back().get(), pidfds_.size() - 1));
    }
  }
  void TearDown() override {
    for (const pid_t pid : pids_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  }
  void kill(size_t which) {  // and waits until it is dead; it stays a zombie
    ::kill(pids_[which], SIGKILL);
    siginfo_t info;
    ::waitid(P_PID, static_cast<id_t>(pids_[which]), &info, WEXITED | WNOWAIT);
  }
  std::vector<uint64_t> taken() { return order_.take(); }
  std::vector<pid_t> pids_;
  std::vector<UniqueFd> pidfds_;
  DeathOrder order_;
};

TEST_F(DeathOrderTest, TellsDeathsInTheOrderInWhichTheyHappened) {
  EXPECT_THAT(taken(), IsEmpty());
  for (const size_t which : {2, 0, 3, 1}) kill(which);
  EXPECT_THAT(taken(), ElementsAre(2, 0, 3, 1));
}

TEST_F(DeathOrderTest, TellsEachOnce) {
  kill(3);
  EXPECT_THAT(taken(), ElementsAre(3));
  kill(1);
  EXPECT_THAT(taken(), ElementsAre(1));
  EXPECT_THAT(taken(), IsEmpty());
}

}  // namespace
}  // namespace rankfault
