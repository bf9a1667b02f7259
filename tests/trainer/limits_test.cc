// Limits tests: the limit that a call gets, which ranks are informed, and the text of an error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "workloads/trainer/limited_collectives.h"
#include "workloads/trainer/options.h"

namespace trainer {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

LimitPolicy policy_of(const std::vector<std::string>& arguments) {
  const ParsedOptions parsed = parse_options(arguments);
  EXPECT_EQ(parsed.error, "");
  return limits_of(parsed.options.step, parsed.options.collective_timeout);
}

const std::vector<std::string> kNotes = {"--collective-timeout=10m",
                                         "--phase-limits=evaluation:30m,small:5m,barrier:4m",
                                         "--size-limits=10000000:15m,100000000:40m"};

TEST(LimitPolicy, ChoosesByPhaseAndBySizeTheLongerOne) {
  const LimitPolicy policy = policy_of(kNotes);
  EXPECT_EQ(policy.of(Phase::kTrain, "all_reduce", 1000), 10min);
  EXPECT_EQ(policy.of(Phase::kTrain, "all_reduce", kSmallCount), 5min);
  EXPECT_EQ(policy.of(Phase::kTrain, "all_reduce", kSmallCount + 1), 10min);
  EXPECT_EQ(policy.of(Phase::kTrain, "barrier", 0), 4min);
  EXPECT_EQ(policy.of(Phase::kTrain, "all_reduce", 9'999'999), 10min);
  EXPECT_EQ(policy.of(Phase::kTrain, "all_reduce", 10'000'000), 15min);
  EXPECT_EQ(policy.of(Phase::kTrain, "all_reduce", 467'019'003), 40min);
  EXPECT_EQ(policy.of(Phase::kEvaluation, "all_reduce", 1), 30min);
  EXPECT_EQ(policy.of(Phase::kEvaluation, "barrier", 0), 30min);
  EXPECT_EQ(policy.of(Phase::kEvaluation, "all_reduce", 10'000'000), 30min);
  EXPECT_EQ(policy.of(Phase::kEvaluation, "all_reduce", 467'019'003), 40min);
}

TEST(LimitPolicy, OfTheCallAfterACheckpointIsTheDisks) {
  EXPECT_EQ(policy_of(kNotes).of(Phase::kCheckpoint, "all_reduce", 1), 100min);
  EXPECT_EQ(policy_of({"--collective-timeout=1s", "--phase-limits=checkpoint:3s"})
                .of(Phase::kCheckpoint, "barrier", 0),
            3s);
  EXPECT_EQ(policy_of({"--collective-timeout=none"}).of(Phase::kCheckpoint, "barrier", 0), std::nullopt);
}

TEST(LimitPolicy, KnowsItsLongestLimit) {
  EXPECT_EQ(policy_of(kNotes).longest(), 40min);
  EXPECT_EQ(policy_of({"--collective-timeout=1s", "--phase-limits=barrier:7s"}).longest(), 7s);
  EXPECT_EQ(policy_of({"--collective-timeout=9s", "--phase-limits=barrier:7s"}).longest(), 9s);
  EXPECT_EQ(policy_of({"--collective-timeout=none", "--phase-limits=barrier:7s"}).longest(), std::nullopt);
}

TEST(LimitPolicy, WithoutItEveryCallHasTheCollectiveTimeout) {
  const LimitPolicy policy = policy_of({"--collective-timeout=7s"});
  for (const char* op : {"all_reduce", "barrier"}) {
    EXPECT_EQ(policy.of(Phase::kTrain, op, 0), 7s);
    EXPECT_EQ(policy.of(Phase::kEvaluation, op, 467'019'003), 7s);
  }
  EXPECT_EQ(
      policy_of({"--collective-timeout=none", "--size-limits=10:1s"}).of(Phase::kTrain, "all_reduce", 99),
      std::nullopt);
}

TEST(LimitPolicy, ASwitchTurnsOffOnlyItsOwnPart) {
  std::vector<std::string> words = kNotes;
  words.push_back("--no-phase-limits");
  EXPECT_EQ(policy_of(words).of(Phase::kEvaluation, "all_reduce", 1), 10min);
  EXPECT_EQ(policy_of(words).of(Phase::kTrain, "all_reduce", 467'019'003), 40min);
  words.back() = "--no-size-limits";
  EXPECT_EQ(policy_of(words).of(Phase::kEvaluation, "all_reduce", 1), 30min);
  EXPECT_EQ(policy_of(words).of(Phase::kTrain, "all_reduce", 467'019'003), 10min);
}

TEST(LimitPolicy, RefusesWhatItDoesNotKnow) {
  for (const char* bad :
       {"--phase-limits=", "--phase-limits=train", "--phase-limits=training:1s", "--phase-limits=train:0s",
        "--phase-limits=train:1s,barrier", "--size-limits=x:1s", "--size-limits=10", "--size-limits=-1:1s",
        "--size-limits=10:1", "--limits-by=nobody", "--limits-by", "--chunk-unit=0", "--heartbeat=none",
        "--meet=never", "--no-phase-limits=1", "--deal=fast", "--evaluation-dir="})
    EXPECT_NE(parse_options({bad}).error, "") << bad;
}

// The first call lasts until it is interrupted, and then fails.
class OneSlowCall : public Collectives {
 public:
  explicit OneSlowCall(std::vector<Limit>* limits) : limits_(limits) {}
  int rank() const override { return 0; }
  int size() const override { return 2; }
  void sum(int64_t*, size_t) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return interrupted_; });
    throw CollectiveError("other", "closed");
  }
  void sum(float*, size_t) override { throw CollectiveError("peer_lost", "closed by peer"); }
  int64_t max(int64_t number) override { return number; }
  std::vector<uint64_t> all_gather(uint64_t mine) override { return {mine, mine}; }
  void broadcast(void*, size_t, int) override {}
  void barrier() override {}
  std::unique_ptr<Collectives> group(const std::string&, const std::vector<int>&) override {
    return std::make_unique<OneSlowCall>(limits_);
  }
  void set_limit(Limit limit) override { limits_->push_back(limit); }
  void interrupt() override {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
    changed_.notify_all();
  }
  void leave(int) override {}

 private:
  std::vector<Limit>* limits_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool interrupted_ = false;
};

LimitPolicy three_limits() {
  LimitPolicy policy;
  policy.train = 3s;
  policy.small = 1s;
  policy.evaluation = 9s;
  return policy;
}

TEST(LimitedCollectives, TheLibraryIsToldTheLimitOfEachCallWhenItChanges) {
  std::vector<Limit> told;
  auto world = with_limits(std::make_unique<OneSlowCall>(&told), three_limits(), nullptr);
  world->max(1);
  world->max(1);
  world->barrier();
  world->begin_phase(Phase::kEvaluation);
  world->max(1);
  world->begin_phase(Phase::kTrain);
  world->max(1);
  EXPECT_THAT(told, ElementsAre(std::nullopt, 1s, 3s, 9s, 1s));
}

TEST(LimitedCollectives, ACheckpointIsOverWhenACallHasReturned) {
  std::vector<Limit> told;
  auto world = with_limits(std::make_unique<OneSlowCall>(&told), three_limits(), nullptr);
  world->begin_phase(Phase::kCheckpoint);
  world->barrier();
  world->barrier();
  EXPECT_THAT(told, ElementsAre(std::nullopt, 30s, 3s));
}

TEST(LimitedCollectives, GroupsObeyTheSamePolicyAndCountTheirOwnCalls) {
  std::vector<Limit> told;
  auto world = with_limits(std::make_unique<OneSlowCall>(&told), three_limits(), nullptr);
  world->max(1);
  auto group = world->group("pair", {0, 1});
  world->begin_phase(Phase::kEvaluation);
  group->max(1);
  EXPECT_THAT(told, ElementsAre(std::nullopt, 1s, std::nullopt, 9s));
  float number = 0;
  try {
    group->sum(&number, 1);
    FAIL() << "no error";
  } catch (const CollectiveError& error) {
    EXPECT_THAT(error.what(), HasSubstr("closed by peer: ALLREDUCE seq 2 numel 1 timeout(ms) 9000 ran for "));
    EXPECT_EQ(error.kind, "peer_lost");
  }
}

TEST(LimitedCollectives, AWatchdogInterruptsTheCallThatIsPastItsLimit) {
  std::vector<Limit> told;
  LimitPolicy policy;
  policy.train = 50ms;
  auto world = with_limits(std::make_unique<OneSlowCall>(&told), policy, watchdog(0));
  world->barrier();
  int64_t numbers[20] = {};
  try {
    world->sum(numbers, 20);
    FAIL() << "no error";
  } catch (const CollectiveError& error) {
    EXPECT_EQ(error.kind, "timeout");
    EXPECT_THAT(error.what(), HasSubstr("closed: ALLREDUCE seq 2 numel 20 timeout(ms) 50 ran for "));
  }
  EXPECT_THAT(told, ElementsAre(std::nullopt));  // the library has no limit
}

TEST(LimitedCollectives, AWatchdogLeavesCallsAloneThatEndInTime) {
  std::vector<Limit> told;
  LimitPolicy policy;
  policy.train = 1h;
  auto world = with_limits(std::make_unique<OneSlowCall>(&told), policy, watchdog(0));
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(world->max(i), i);
}

TEST(CallInFlight, IsToldAsAWatchdogsLine) {
  CallInFlight call{"all_reduce", 56731, 467'019'003, 600'000ms, {}};
  EXPECT_EQ(call.told(call.begun + 600'053ms),
            "ALLREDUCE seq 56731 numel 467019003 timeout(ms) 600000 ran for 600053 ms");
}

}  // namespace
}  // namespace trainer
