// ClockOffset: the true offset is always inside of its bounds, and a step of a clock is noticed.
#include "harness/nodes/clock_offset.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <random>

#include "tests/nodes/meet.h"

namespace rankfault::test {
namespace {

// Two clocks whose rates differ by a changing part, and a network with uneven ways. Times in ns.
class TwoClocks {
 public:
  TwoClocks(uint32_t seed, double most_ppm) : random_(seed), most_ppm_(most_ppm) {
    offset_ = uniform(-9e14, 9e14);
    tool_ = 1e15 + uniform(0, 1e12);
    turn();
  }

  Instant tool() const { return Instant(Duration(std::llround(tool_))); }
  Instant node() const { return Instant(Duration(std::llround(tool_) + std::llround(offset_))); }
  void pass(double ns) {
    tool_ += ns;
    offset_ += ns * rate_;
  }
  void step_node(double ns) { offset_ += ns; }
  void turn() { rate_ = uniform(-most_ppm_, most_ppm_) * 1e-6; }
  double uniform(double from, double to) { return std::uniform_real_distribution<>(from, to)(random_); }

  Ping ping() {
    const double slow = uniform(0, 1) < 0.1 ? 5e7 : 2e5;  // now and then a way is slow
    Ping ping;
    ping.sent = tool();
    pass(uniform(2e4, slow));
    ping.node_received = node();
    pass(uniform(0, 1e6));
    ping.node_answered = node();
    pass(uniform(2e4, 2e5));
    ping.received = tool();
    return ping;
  }

 private:
  std::mt19937 random_;
  double most_ppm_, offset_ = 0, tool_ = 0, rate_ = 0;
};

struct Event {
  Instant true_time, node_time;
};

// The rounding of the two clocks above.
constexpr Duration kRounding{2};

void expect_inside(const ClockOffset& offset, const Event& event) {
  const Duration error = offset.error(event.node_time);
  EXPECT_LE(std::chrono::abs(offset.tool_time(event.node_time) - event.true_time), error + kRounding);
}

class AnyClocks : public ::testing::TestWithParam<int> {};

TEST_P(AnyClocks, HoldTheTrueOffset) {
  TwoClocks clocks(static_cast<uint32_t>(GetParam()), 100);
  ClockOffset offset;
  std::vector<Event> events;
  const int pings = GetParam() % 4 == 0 ? 20'000 : 500;
  for (int i = 0; i < pings; ++i) {
    ASSERT_TRUE(offset.add(clocks.ping()));
    if (i % 7 == 0) clocks.turn();
    const double pause = clocks.uniform(1e6, 2e9);
    clocks.pass(pause / 2);
    if (i % 11 == 0) events.push_back({clocks.tool(), clocks.node()});
    clocks.pass(pause / 2);
    if (offset.known()) expect_inside(offset, {clocks.tool(), clocks.node()});
  }
  ASSERT_TRUE(offset.known());
  EXPECT_EQ(offset.jumped(), std::nullopt);
  for (const Event& event : events) expect_inside(offset, event);
  clocks.pass(3600e9);
  expect_inside(offset, {clocks.tool(), clocks.node()});
}

TEST_P(AnyClocks, HoldTheTrueOffsetAroundAStep) {
  TwoClocks clocks(static_cast<uint32_t>(1000 + GetParam()), 100);
  ClockOffset offset;
  std::vector<Event> events;
  const int steps_at = 20 + GetParam();
  const double step = (GetParam() % 2 == 0 ? 1 : -1) * clocks.uniform(1e9, 1e12);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(offset.add(clocks.ping()));
    clocks.pass(1e9);
    events.push_back({clocks.tool(), clocks.node()});
    if (i == steps_at && step > 0) clocks.step_node(step);  // the tool's host slept
    if (i == steps_at && step < 0) {                        // the node's host slept
      clocks.step_node(step);
      clocks.pass(-step);
    }
    events.push_back({clocks.tool(), clocks.node()});
    clocks.pass(1e8);
    EXPECT_EQ(offset.jumped().has_value(), i > steps_at) << i;
  }
  for (const Event& event : events) expect_inside(offset, event);
}

INSTANTIATE_TEST_SUITE_P(Seeds, AnyClocks, ::testing::Range(0, 40));

// 200 us of round trip: the bounds are narrow, and not only true.
TEST(ClockOffset, ErrorIsAboutHalfOfTheBestRoundTrip) {
  TwoClocks clocks(7, 20);
  ClockOffset offset;
  for (int i = 0; i < 60; ++i) {
    offset.add(clocks.ping());
    clocks.pass(1e8);
  }
  EXPECT_LT(offset.error(clocks.node()), 250us);
}

TEST(ClockOffset, IsKnownAfterEightPingsOrOneNarrowOne) {
  const Instant t(1000s);
  ClockOffset wide;
  for (int i = 0; i < 8; ++i) {
    EXPECT_FALSE(wide.known());
    EXPECT_EQ(wide.error(t), kLongestDuration);
    const Instant at = t + i * 1s;
    EXPECT_TRUE(wide.add({at, at + 5s, at + 5s, at + 10ms}));
  }
  EXPECT_TRUE(wide.known());
  ClockOffset narrow;
  EXPECT_TRUE(narrow.add({t, t + 5s, t + 5s, t + 80us}));
  ASSERT_TRUE(narrow.known());
  EXPECT_EQ(narrow.fixed_ns(), 5'000'000'000 - 40'000);
  EXPECT_EQ(narrow.tool_time(t + 5s), t + 40us);
  EXPECT_EQ(narrow.tool_time(Instant{}), Instant{});
  EXPECT_EQ(narrow.tool_time(kEndOfTime), kEndOfTime);
}

TEST(ClockOffset, NeverChangesTheOneThatWasChosen) {
  TwoClocks clocks(3, 100);
  ClockOffset offset;
  while (!offset.known()) offset.add(clocks.ping());
  const int64_t chosen = offset.fixed_ns();
  for (int i = 0; i < 200; ++i) {
    if (i == 100) clocks.step_node(1e10);
    offset.add(clocks.ping());
    clocks.pass(1e9);
  }
  EXPECT_EQ(offset.fixed_ns(), chosen);
  EXPECT_GT(offset.error(clocks.node()), 9s);
}

TEST(ClockOffset, LeavesOutWhatCannotBeTrue) {
  const Instant t(1000s);
  ClockOffset offset;
  EXPECT_FALSE(offset.add({t, t, t, t - 1ns}));
  EXPECT_FALSE(offset.add({t, t, t - 1ns, t}));
  EXPECT_FALSE(offset.add({t, instant_of(UINT64_MAX), instant_of(UINT64_MAX), t}));
  EXPECT_FALSE(offset.add({t, Instant(-1ns), t, t}));
  EXPECT_TRUE(offset.add({t, t, t, t + 1ms}));
  EXPECT_FALSE(offset.add({t, t - 5s, t - 5s, t + 2ms})) << "the node's clock never goes back";
  EXPECT_EQ(offset.jumped(), std::nullopt);
}

TEST(ClockOffset, NoticesAStepBetweenTheTwoWays) {
  const Instant t(1000s);
  ClockOffset offset;
  offset.add({t, t, t, t + 1ms});
  offset.add({t + 1s, t + 1s, t + 9s, t + 1s + 1ms});  // 8 s passed on the node within 1 ms
  EXPECT_EQ(offset.jumped(), t + 1s + 1ms);
  for (int i = 2; i < 12; ++i) offset.add({t + i * 1s, t + i * 1s + 8s, t + i * 1s + 8s, t + i * 1s + 1ms});
  EXPECT_EQ(offset.jumped(), t + 1s + 1ms);
  ASSERT_TRUE(offset.known());
  EXPECT_GE(offset.error(t + 5s), 7s) << "between the pings around the step, both offsets are possible";
  EXPECT_GE(offset.error(t), 7s);
  EXPECT_LT(offset.error(t + 20s), 10ms);
}

// A week of pings, one a second: old events keep an error of some milliseconds.
TEST(ClockOffset, RemembersOldOffsetsWithinItsMemory) {
  TwoClocks clocks(5, 1);
  ClockOffset offset;
  Event early{};
  for (int i = 0; i < 600'000; ++i) {
    offset.add(clocks.ping());
    clocks.pass(1e9);
    if (i == 20'000) early = {clocks.tool(), clocks.node()};
  }
  expect_inside(offset, early);
  EXPECT_LT(offset.error(early.node_time), 60ms);
}

TEST(ClockOffset, AClockThatIsSteppedAllTheTimeIsForgottenNotMisjudged) {
  TwoClocks clocks(6, 0);
  ClockOffset offset;
  std::vector<Event> events;
  for (int i = 0; i < 20'000; ++i) {
    offset.add(clocks.ping());
    events.push_back({clocks.tool(), clocks.node()});
    clocks.pass(1e8);
    clocks.step_node(1e9);
  }
  ASSERT_TRUE(offset.known());
  EXPECT_EQ(offset.error(events.front().node_time), kLongestDuration);
  for (const Event& event : events) expect_inside(offset, event);
}

TEST(ClockOffset, OrdersEventsThatAreFurtherApartThanTheirErrors) {
  const Instant t(1000s);
  EXPECT_EQ(order_of(t, 2ms, t + 6ms, 3ms), Order::kBefore);
  EXPECT_EQ(order_of(t + 6ms, 2ms, t, 3ms), Order::kAfter);
  EXPECT_EQ(order_of(t, 2ms, t + 5ms, 3ms), Order::kUnknown);
  EXPECT_EQ(order_of(t + 4ms, 2ms, t, 3ms), Order::kUnknown);
  EXPECT_EQ(order_of(t, 0ns, t, 0ns), Order::kUnknown);
  EXPECT_EQ(order_of(t, kLongestDuration, t + 100h, kLongestDuration), Order::kUnknown);
}

// In a child: a time namespace whose CLOCK_MONOTONIC is 1000 s ahead.
bool go_1000s_ahead() {
  if (::unshare(CLONE_NEWTIME | (::geteuid() == 0 ? 0 : CLONE_NEWUSER)) != 0) return false;
  const UniqueFd offsets(::open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC));
  const std::string text = "monotonic 1000 0\n";
  return ::write(offsets.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Answers each ping with its clock, until the tool closes the connection.
void answer_pings(int port, const RunKey& key) {
  Result<Connection> tool = Connection::connect("127.0.0.1", port, key, 30s);
  if (!tool) ::_exit(2);
  while (tool->receive().ok()) {
    while (tool->next())
      tool->send(1, Packer().instant(HostClock::now()).instant(HostClock::now()).payload());
    if (!tool->flush().ok()) break;
    pollfd one{tool->fd(), POLLIN, 0};
    ::poll(&one, 1, 30'000);
  }
  ::_exit(0);
}

constexpr int kNoNamespace = 77;

// The first child makes the namespace, and its child is in it.
int node_in_the_future(int port, const RunKey& key) {
  const int child = ::fork();
  if (child != 0) return child;
  if (!go_1000s_ahead()) ::_exit(kNoNamespace);
  const int node = ::fork();
  if (node == 0) answer_pings(port, key);
  int status = 0;
  ::waitpid(node, &status, 0);
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

int exit_status(int child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ClockOffset, FindsTheOffsetOfARealTimeNamespace) {
  const RunKey key = RunKey::fresh();
  Listener listener = listener_here(key);
  const int child = node_in_the_future(listener.port(), key);
  int gone = 0, status = 0;
  std::vector<Connection> proved = serve(listener, [&](size_t n) {
    gone = n == 0 ? ::waitpid(child, &status, WNOHANG) : 0;
    return n == 1 || gone == child;
  });
  // The kernel gives a time namespace to root, or to a user who may make user namespaces. No other clock of
  // this machine has another offset.
  if (gone == child && WEXITSTATUS(status) == kNoNamespace)
    GTEST_SKIP() << "no right to make a time namespace";
  ASSERT_EQ(proved.size(), 1u);
  Connection node = std::move(proved[0]);
  ClockOffset offset;
  for (int i = 0; i < ClockOffset::kEnoughPings; ++i) {
    Ping ping;
    ping.sent = HostClock::now();
    node.send(1, "");
    ASSERT_TRUE(node.flush().ok());
    const std::vector<WireFrame> answers = frames_of(node, 1);
    ping.received = HostClock::now();
    ASSERT_EQ(answers.size(), 1u);
    Unpacker in(answers[0].payload);
    ping.node_received = in.instant();
    ping.node_answered = in.instant();
    ASSERT_TRUE(in.done().ok());
    ASSERT_TRUE(offset.add(ping));
  }
  ASSERT_TRUE(offset.known());
  const Duration from_true = std::chrono::abs(Duration(offset.fixed_ns()) - 1000s);
  EXPECT_LE(from_true, offset.error(HostClock::now() + 1000s));
  { const Connection closed = std::move(node); }
  EXPECT_EQ(exit_status(child), 0);
}

}  // namespace
}  // namespace rankfault::test
