// run_delay_test: a process that needs the core of another one waits for it; a process that sleeps does not.
#include "harness/inject/run_delay.h"

#include <gtest/gtest.h>
#include <time.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "tests/support/child_on_a_core.h"

namespace rankfault::test {
namespace {

constexpr uint64_t kMs = 1'000'000;

// Waits for a state, for at most 30 s.
bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 3000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return condition();
}

char state_of(int pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  const std::string text((std::istreambuf_iterator<char>(stat)), {});
  const size_t name_ends = text.rfind(") ");
  return name_ends == std::string::npos ? '?' : text[name_ends + 2];
}

uint64_t cpu_time_ns(int pid) {
  clockid_t clock = 0;
  timespec used{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return 0;
  return static_cast<uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(used.tv_nsec);
}

TEST(RunDelay, GrowsWhileAnotherProcessHasTheCore) {
  const ChildOnACore one(be_busy), other(be_busy);
  RunDelay delay(one.pid);
  ASSERT_TRUE(delay.known());
  EXPECT_EQ(delay.waited_ns(), 0u);
  EXPECT_TRUE(eventually([&] {
    delay.look();
    return delay.waited_ns() >= 50 * kMs;
  }));
}

TEST(RunDelay, OfAProcessThatSleepsIsNothing) {
  const ChildOnACore busy(be_busy), asleep(sleep_on);
  ASSERT_TRUE(eventually([&] { return state_of(asleep.pid) == 'S'; }));
  RunDelay delay(asleep.pid);
  const uint64_t before = cpu_time_ns(busy.pid);
  ASSERT_TRUE(eventually([&] { return cpu_time_ns(busy.pid) >= before + 200 * kMs; }));
  delay.look();
  EXPECT_EQ(delay.waited_ns(), 0u);
}

TEST(RunDelay, OfNobodyIsNotKnown) { EXPECT_FALSE(RunDelay(0x3fffff).known()); }

}  // namespace
}  // namespace rankfault::test
