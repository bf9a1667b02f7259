// run_delay_test: a process that needs the core of another one waits for it; a process that sleeps does not.
#include "harness/inject/run_delay.h"

#include <gtest/gtest.h>
#include <time.h>

#include <chrono>
#include <fstream>
#include <string>

#include "tests/support/child_on_a_core.h"
#include "tests/support/eventually.h"

namespace rankfault::test {
namespace {

char state_of(int pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  const std::string text((std::istreambuf_iterator<char>(stat)), {});
  const size_t name_ends = text.rfind(") ");
  return name_ends == std::string::npos ? '?' : text[name_ends + 2];
}

Duration cpu_time(int pid) {
  clockid_t clock = 0;
  timespec used{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return {};
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

TEST(RunDelay, GrowsWhileAnotherProcessHasTheCore) {
  const ChildOnACore one(be_busy), other(be_busy);
  RunDelay delay(one.pid);
  ASSERT_TRUE(delay.known());
  EXPECT_EQ(delay.waited(), 0ns);
  EXPECT_TRUE(eventually([&] {
    delay.look();
    return delay.waited() >= 50ms;
  }));
}

TEST(RunDelay, OfAProcessThatSleepsIsNothing) {
  const ChildOnACore busy(be_busy), asleep(sleep_on);
  ASSERT_TRUE(eventually([&] { return state_of(asleep.pid) == 'S'; }));
  RunDelay delay(asleep.pid);
  const Duration before = cpu_time(busy.pid);
  ASSERT_TRUE(eventually([&] { return cpu_time(busy.pid) >= before + 200ms; }));
  delay.look();
  EXPECT_EQ(delay.waited(), 0ns);
}

TEST(RunDelay, OfNobodyIsNotKnown) { EXPECT_FALSE(RunDelay(0x3fffff).known()); }

}  // namespace
}  // namespace rankfault::test
