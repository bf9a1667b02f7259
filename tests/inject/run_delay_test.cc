// run_delay_test: a process that wants the core of another one waits for it; one that sleeps does not.
#include "harness/inject/run_delay.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

namespace rankfault::test {
namespace {

class Child {
 public:
  explicit Child(const std::function<void()>& does) {
    pid = ::fork();
    if (pid == 0) {
      cpu_set_t cores, first;
      ::sched_getaffinity(0, sizeof cores, &cores);
      CPU_ZERO(&first);
      for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&first) == 0; ++core)
        if (CPU_ISSET(core, &cores)) CPU_SET(core, &first);
      ::sched_setaffinity(0, sizeof first, &first);
      does();
      ::_exit(0);
    }
  }
  ~Child() {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  int pid = 0;
};

void be_busy() {
  for (volatile bool on = true; on;) {
  }
}
void sleep_on() {
  for (;;) ::pause();
}

constexpr uint64_t kMs = 1'000'000;

TEST(RunDelay, GrowsWhileAnotherProcessHasTheCore) {
  const Child one(be_busy), other(be_busy);
  RunDelay delay(one.pid);
  ASSERT_TRUE(delay.known());
  EXPECT_EQ(delay.waited_ns(), 0u);
  for (int i = 0; i < 500 && delay.waited_ns() < 50 * kMs; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    delay.look();
  }
  EXPECT_GE(delay.waited_ns(), 50 * kMs);
}

TEST(RunDelay, OfAProcessThatSleepsIsNothing) {
  const Child busy(be_busy), asleep(sleep_on);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until it sleeps, near enough
  RunDelay delay(asleep.pid);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  delay.look();
  EXPECT_LT(delay.waited_ns(), 50 * kMs);
}

TEST(RunDelay, OfNobodyIsNotKnown) { EXPECT_FALSE(RunDelay(0x3fffff).known()); }

}  // namespace
}  // namespace rankfault::test
