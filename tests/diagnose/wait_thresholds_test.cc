// wait_thresholds_test: the job's own record decides how long a wait may last before it is reported.
#include "harness/diagnose/timing/wait_thresholds.h"

#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

using ::testing::HasSubstr;

// Rank 1 comes late to one all_reduce by `late`. Then rank 0 waits for it in the next one.
TimelineBuilder late_before(Duration late, const CallSpec& call = all_reduce()) {
  TimelineBuilder job(2);
  job.everyone(call).blocked(0, call).wait(late).blocked(1, call).returns(0).returns(1);
  job.blocked(0, call);
  job.lane_of(1).thread_state = 'S';
  return job;
}

TEST(WaitThreshold, GrowsWithWhatTheJobCameBackFrom) {
  TimelineBuilder job = late_before(4s);
  job.wait(11s);
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong()) << all_kinds(diagnose(job.build()));
  job.wait(2s);
  const Findings found = diagnose(job.build());
  EXPECT_EQ(all_kinds(found), "slow_rank");
  EXPECT_THAT(found.all[0].text, HasSubstr("for more than 12s; the longest such wait before was 4s"));
}

TEST(WaitThreshold, IsAtLeastWhatWasAskedFor) {
  TimelineBuilder job = late_before(10ms);
  job.wait(3s);
  const Findings found = diagnose(job.build());
  EXPECT_EQ(all_kinds(found), "slow_rank");
  EXPECT_THAT(found.all[0].text, HasSubstr("for more than 2s; the longest such wait before was 10ms"));
  EXPECT_TRUE(diagnose(job.build(), {4s, 30s}).nothing_wrong());
  EXPECT_EQ(all_kinds(diagnose(job.build(), {1s, 1s})), "stuck_outside");
}

TEST(WaitThreshold, OfAHangGrowsToo) {
  TimelineBuilder job = late_before(20s);
  job.wait(50s);
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
  job.wait(20s);
  EXPECT_EQ(all_kinds(diagnose(job.build())), "stuck_outside");
}

// A pause of all ranks keeps no rank waiting, and counts as usual in the same way as a wait.
TEST(WaitThreshold, KnowsHowLongRanksComputeBetweenCalls) {
  TimelineBuilder job(2);
  job.everyone(all_reduce()).wait(5s).everyone(all_reduce()).blocked(0, all_reduce());
  job.wait(14s);
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
  job.wait(2s);
  EXPECT_EQ(all_kinds(diagnose(job.build())), "slow_rank");
}

TEST(WaitThreshold, IsLearnedFromWaitsThatEndedWell) {
  TimelineBuilder job(2);
  job.everyone(all_reduce()).blocked(0, all_reduce()).wait(4s).blocked(1, all_reduce());
  job.returns(0, 0, 5).returns(1, 0, 5).does(1, barrier());
  job.rank(1).stopped = true;
  EXPECT_EQ(finding_of(diagnose(job.build()), "slow_rank"), nullptr);
}

TEST(WaitThreshold, WithACallThatAllAreInIsLearnedFromItsLike) {
  TimelineBuilder job(2);
  job.blocked(0, all_reduce()).blocked(1, all_reduce()).wait(10s).returns(0).returns(1);
  job.blocked(0, all_reduce()).blocked(1, all_reduce()).wait(25s);
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
  job.wait(6s);
  const Findings found = diagnose(job.build());
  EXPECT_EQ(all_kinds(found), "wedged");
  EXPECT_THAT(found.all[0].text, HasSubstr("for more than 30s; the longest such wait before was 10s"));
}

// The rank is on its way, through other calls: the others wait for as long as that takes.
TEST(SlowRank, WhoMakesOtherCallsIsToldOnlyAfterLong) {
  TimelineBuilder job(3);
  job.comm("pair", {1, 2}).everyone(all_reduce()).blocked(0, all_reduce());
  for (int i = 0; i < 15; ++i) job.wait(1s).everyone(on(all_reduce(), "pair"));
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
  for (int i = 0; i < 10; ++i) job.wait(1s).everyone(on(all_reduce(), "pair"));
  const Finding* f = nullptr;
  const Findings found = diagnose(job.build());
  ASSERT_NE(f = finding_of(found, "slow_rank"), nullptr) << all_kinds(found);
  EXPECT_THAT(f->text, HasSubstr("makes other calls while others wait for it"));
}

TEST(StuckOutside, ARankThatUsesCpuTimeIsNotStuck) {
  TimelineBuilder job = late_before(Duration::zero());
  job.wait(30s);
  job.rank(1).busy_at = job.now() - 5s;
  EXPECT_EQ(all_kinds(diagnose(job.build())), "slow_rank");
  job.wait(30s);
  EXPECT_EQ(all_kinds(diagnose(job.build())), "stuck_outside");
}

TEST(StoppedRank, IsToldWhenSomebodyGaveUpOnIt) {
  TimelineBuilder job(2);
  job.everyone(all_reduce()).fails(0, all_reduce());
  job.rank(1).stopped = true;
  EXPECT_NE(finding_of(diagnose(job.build()), "stopped_rank"), nullptr);
}

TEST(StoppedRank, IsToldAfterLongThoughNobodyWaits) {
  TimelineBuilder job(2);
  job.everyone(all_reduce()).wait(15s);
  job.rank(1).stopped = true;
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
  job.wait(10s);
  EXPECT_EQ(all_kinds(diagnose(job.build())), "stopped_rank");
}

TEST(SaysItHangs, OnlyWhatCannotGoOn) {
  Finding f;
  for (const char* kind : {"slow_rank", "stopped_rank", "exited_rank", "missing_call", "dead_rank"}) {
    f.kind = kind;
    EXPECT_FALSE(says_it_hangs(f)) << kind;
  }
  for (const char* kind : {"stuck_outside", "wedged", "order_deadlock", "init_stall"}) {
    f.kind = kind;
    EXPECT_TRUE(says_it_hangs(f)) << kind;
  }
  f.kind = "missing_call";
  f.confidence = Confidence::kProven;
  f.claim = Claim::kNotTheSameCall;
  EXPECT_FALSE(says_it_hangs(f));
  f.claim = Claim::kCannotReturn;
  EXPECT_TRUE(says_it_hangs(f));
}

}  // namespace
}  // namespace rankfault::testing
