// clock_order_test: the order of findings about ranks of several nodes. A finding is the cause of another one
// where their order is certain, or where they are about one rank.
#include <csignal>

#include "tests/diagnose/two_nodes.h"

namespace rankfault::testing {
namespace {

// Two deaths in two communicators of two nodes, with nothing in common.
Findings two_deaths(Duration later) {
  TimelineBuilder job(4);
  put(job, {0, 1}, "n1");
  put(job, {2, 3}, "n2");
  job.comm("left", {0, 1}).comm("right", {2, 3});
  job.everyone(on(all_reduce(), "left")).everyone(on(all_reduce(), "right"));
  job.blocked(0, on(all_reduce(), "left")).blocked(2, on(all_reduce(), "right"));
  job.killed(3).wait(later).killed(1);
  return diagnose(job.build());
}

TEST(ClockOrder, NoDeathCausesAnotherOneWithoutACertainOrder) {
  const Findings sure = two_deaths(kSure);
  ASSERT_EQ(all_kinds(sure), "dead_rank dead_rank");
  EXPECT_EQ(sure.all[0].ranks, std::vector<int>{3});
  EXPECT_EQ(sure.all[1].caused_by, 0);
  const Findings unsure = two_deaths(kUnsure);
  ASSERT_EQ(all_kinds(unsure), "dead_rank dead_rank");
  for (const Finding& f : unsure.all) EXPECT_EQ(f.caused_by, -1) << f.text;
}

// Rank 0 of n1 exits; rank 3 of n2 is killed, which by its kind comes first.
TEST(ClockOrder, FindingsWithoutACertainOrderStandInTheOrderOfTheirKinds) {
  for (const Duration later : {kUnsure, kSure}) {
    TimelineBuilder job(4);
    put(job, {0, 1}, "n1");
    put(job, {2, 3}, "n2");
    job.everyone(all_reduce()).exits(0, 3).wait(later).killed(3);
    const Findings found = diagnose(job.build());
    EXPECT_EQ(all_kinds(found), later == kSure ? "exited_rank dead_rank" : "dead_rank exited_rank");
    EXPECT_EQ(found.all.back().caused_by, later == kSure ? 0 : -1);
  }
}

// Rank 1 waits for rank 2, and its call fails. rank 2 is seen to end at about that time.
TEST(ClockOrder, WhoWaitedForADeadRankHangsUnderItWithoutACertainOrder) {
  TimelineBuilder job(3);
  put(job, {0, 1}, "n1");
  put(job, {2}, "n2");
  job.everyone(all_reduce());
  for (const int r : {0, 1}) job.blocked(r, all_reduce());
  job.wait(1s);
  for (const int r : {0, 1}) job.returns(r, 0, RF_RESULT_THROWN).exits(r, 3);
  job.wait(kUnsure).killed(2);
  const Findings found = diagnose(job.build());
  ASSERT_EQ(all_kinds(found), "dead_rank exited_rank exited_rank");
  for (size_t i = 1; i < 3; ++i) EXPECT_EQ(found.all[i].caused_by, 0) << found.all[i].text;
}

// Rank 1's exit is seen after the calls of those that it let down failed, on two other nodes.
TEST(ClockOrder, WhoIsLetDownHangsUnderTheRankThatLeft) {
  for (const Duration seen_late : {-kUnsure, kUnsure, kSure}) {
    TimelineBuilder job(4);
    put(job, {0}, "n1");
    put(job, {3}, "n2");
    put(job, {1}, "n3");
    put(job, {2}, "n4");
    job.everyone(all_reduce());
    for (const int r : {0, 2, 3}) job.blocked(r, all_reduce());
    job.wait(300ms);
    for (const int r : {0, 2, 3}) job.returns(r, 0, RF_RESULT_THROWN);
    const Instant failed = job.now();
    job.wait(kSure).exits(1, 5);
    job.rank(1).end.time = failed + seen_late;
    for (const int r : {0, 2, 3}) job.exits(r, 3);
    const Findings found = diagnose(job.build());
    ASSERT_EQ(found.all.size(), 4u) << all_kinds(found);
    EXPECT_EQ(found.all[0].ranks, std::vector<int>{1}) << found.all[0].text;
    for (size_t i = 1; i < 4; ++i) EXPECT_EQ(found.all[i].caused_by, 0) << found.all[i].text;
    EXPECT_NE(found.all[0].clock->node, "n3") << "right before a failure, on the clock of that rank";
  }
}

// The call of rank 1 fails; ranks 0 and 2 of another node exit `later`.
Findings failed_first(Duration later) {
  TimelineBuilder job(3);
  put(job, {0, 2}, "n1");
  put(job, {1}, "n2");
  job.everyone(all_reduce(), 2).fails(1, all_reduce(), 5).wait(later);
  for (const int r : {0, 2}) job.exits(r, 3);
  job.wait(kSure).exits(1, 3);
  return diagnose(job.build());
}

TEST(ClockOrder, ARankThatFailedIsTheCauseOfOtherExitsOnlyIfItCertainlyFailedBefore) {
  const Findings sure = failed_first(kSure);
  EXPECT_EQ(sure.all[0].ranks, std::vector<int>{1});
  for (size_t i = 1; i < sure.all.size(); ++i) EXPECT_EQ(sure.all[i].caused_by, 0);
  const Findings unsure = failed_first(kUnsure);
  const Finding* failed = about(unsure, "exited_rank", 1);
  ASSERT_NE(failed, nullptr) << all_kinds(unsure);
  for (const int r : {0, 2}) {
    const Finding& f = *about(unsure, "exited_rank", r);
    EXPECT_TRUE(f.caused_by < 0 || unsure.all[static_cast<size_t>(f.caused_by)].ranks != failed->ranks);
  }
}

// The call of rank 2 fails, and rank 0 of another node, with which it has nothing in common, exits `before`.
TEST(ClockOrder, AFailureFollowsAnExitOnlyIfItCertainlyCameAfterIt) {
  for (const Duration before : {kUnsure, kSure}) {
    TimelineBuilder job(4);
    put(job, {0, 1}, "n1");
    put(job, {2, 3}, "n2");
    job.comm("left", {0, 1}).comm("right", {2, 3});
    job.everyone(on(all_reduce(), "left")).exits(0, 3).wait(before).fails(2, on(all_reduce(), "right"));
    job.wait(kSure).exits(2, 3);
    const Findings found = diagnose(job.build());
    ASSERT_EQ(all_kinds(found), "exited_rank exited_rank");
    EXPECT_EQ(about(found, "exited_rank", 2)->caused_by, before == kSure ? 0 : -1);
  }
}

// A death is seen up to 50ms after it made calls of other ranks fail.
TEST(ClockOrder, ADeathMayHaveCausedAFailureAsLongAsTheClocksAllowIt) {
  for (const Duration later : {52ms, 60ms}) {
    TimelineBuilder job(3);
    put(job, {0, 2}, "n1");
    put(job, {1}, "n2");
    job.everyone(all_reduce(), 2).fails(1, all_reduce(), 5).wait(later).killed(0).wait(kSure).exits(1, 3);
    EXPECT_EQ(diagnose(job.build()).all.front().kind, later == 52ms ? "dead_rank" : "exited_rank");
  }
}

// Rank 2 calls MPI_Abort, and its launcher ends rank 1 of another node at about the time when rank 2 ends.
TEST(ClockOrder, WhoAbortedStandsBeforeItsVictims) {
  for (const Duration later : {-kUnsure, kUnsure}) {
    TimelineBuilder job(3, RF_LIB_MPI);
    put(job, {0, 1}, "n1");
    put(job, {2}, "n2");
    CallSpec abort = all_reduce();
    abort.op = RF_OP_COMM_ABORT;
    job.everyone(all_reduce(), 2).blocked(0, all_reduce()).blocked(2, abort).wait(kSure).exits(2, 1);
    const Instant ended = job.now();
    job.killed(1, SIGTERM).wait(kSure);
    job.rank(1).end.time = ended + later;
    const Findings found = diagnose(launched(job));
    ASSERT_EQ(all_kinds(found), "exited_rank dead_rank");
    EXPECT_EQ(found.all[1].caused_by, 0);
  }
}

Finding of(const std::string& kind, int rank, Duration at, const std::string& node) {
  Finding f;
  f.kind = kind;
  f.ranks = {rank};
  f.at = Instant(at);
  f.clock = NodeClock{node, kError};
  return f;
}

// The disk of rank 1 was full. Rank 1 had left its last call before the others began to wait for it.
TEST(ClockOrder, AResourceIsTheCauseOnlyOfWhatCertainlyCameAfterTheLastCall) {
  for (const Duration since : {5ms, 9ms}) {
    Finding disk = of("host_resource", 1, 120ms, "n2");
    disk.since = Instant(since);
    std::vector<Finding> all = {of("missing_call", 1, 10ms, "n1"), disk};
    order_by_cause(all);
    EXPECT_EQ(all[0].kind, since == 5ms ? "host_resource" : "missing_call");
  }
}

TEST(ClockOrder, TheEndForWhichOthersWaitComesFirst) {
  std::vector<Finding> all = {of("exited_rank", 0, 10ms, "n1"), of("exited_rank", 1, 11ms, "n2")};
  all[1].sides = {{{0}, "", "", ""}};
  order_by_cause(all);
  EXPECT_EQ(all[0].ranks, std::vector<int>{1});
  EXPECT_EQ(all[1].caused_by, 0);
}

TEST(ClockOrder, FindingsOfOneNodeKeepTheirOrderAmongThoseOfOthers) {
  std::vector<Finding> all = {of("exited_rank", 4, 12ms, "n1"), of("exited_rank", 3, 11ms, "n1"),
                              of("dead_rank", 2, 13ms, "n2"), of("exited_rank", 1, 40ms, "n3"),
                              of("exited_rank", 0, 12ms, "")};
  order_by_cause(all);
  std::vector<int> ranks;
  for (const Finding& f : all) ranks.push_back(f.ranks.front());
  EXPECT_EQ(ranks, (std::vector<int>{2, 0, 3, 4, 1}));
  EXPECT_EQ(all[2].caused_by, -1);
  EXPECT_EQ(all[3].caused_by, 2) << "of the same node";
  EXPECT_EQ(all[4].caused_by, 0);
}

// A finding about several nodes is compared with none exactly.
TEST(ClockOrder, AFindingKeepsTheClockOfItsTime) {
  TimelineBuilder job(4);
  put(job, {0, 1}, "n1");
  put(job, {2, 3}, "n2");
  job.everyone(all_reduce()).blocked(0, all_reduce()).blocked(1, all_reduce()).blocked(2, broadcast(0));
  job.killed(3);
  const Findings found = diagnose(job.build());
  EXPECT_EQ(about(found, "dead_rank", 3)->clock, (NodeClock{"n2", kError}));
  EXPECT_EQ(finding_of(found, "call_mismatch")->clock, (NodeClock{"", kError})) << all_kinds(found);
  for (const Finding& f : found.all) EXPECT_EQ(finding_from_json(to_json(f))->clock, f.clock);
  for (int r = 0; r < 4; ++r) job.rank(r).node = "";
  for (const Finding& f : diagnose(job.build()).all) {
    EXPECT_EQ(f.clock, NodeClock{});
    EXPECT_EQ(to_json(f).count("clock"), 0u);
  }
}

}  // namespace
}  // namespace rankfault::testing
