// clocks_test: events of two nodes have an order only where their clocks are certain enough, and no proof and
// no blame rests on another one.
#include <csignal>

#include "tests/diagnose/two_nodes.h"

namespace rankfault::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Rank 1 waits for rank 0, which a signal ends. Then rank 1 is ended, too.
Finding dead_before_its_waiter(Duration later, bool two_nodes, Duration outlived = {}) {
  TimelineBuilder job(2);
  put(job, {0}, "n1");
  put(job, {1}, two_nodes ? "n2" : "n1");
  job.everyone(all_reduce()).blocked(1, all_reduce()).killed(0).killed(1);
  job.rank(1).end.time = job.rank(0).end.time + later;
  if (outlived != Duration{}) job.rank(1).end.outlived = job.rank(0).end.time + outlived;
  const Findings found = diagnose(job.build());
  const Finding* f = about(found, "dead_rank", 0);
  return f ? *f : Finding{};
}

TEST(Clocks, AWaiterThatMayHaveEndedFirstProvesNothing) {
  EXPECT_EQ(dead_before_its_waiter(7ms, false).confidence, Confidence::kProven) << "of one node";
  const Finding close = dead_before_its_waiter(7ms, true);
  EXPECT_EQ(close.confidence, Confidence::kInferred);
  EXPECT_EQ(failed_assumptions(close), std::vector<std::string>{"ended_first"});
  EXPECT_EQ(dead_before_its_waiter(kSure, true).confidence, Confidence::kProven);
  const Finding unsure = dead_before_its_waiter(kUnsure, true);
  EXPECT_EQ(
      why_failed(unsure, "ended_first"),
      "rank 1 waits for it and may have ended first: the clocks of nodes n1 and n2 differ by up to 4ms, "
      "and these events are 1ms apart");
}

TEST(Clocks, AWaiterThatMayHaveEndedLongBeforeIsStillShown) {
  const Finding f = dead_before_its_waiter(-7ms, true);
  EXPECT_EQ(failed_assumptions(f), std::vector<std::string>{"ended_first"});
  EXPECT_THAT(f.text, HasSubstr("never entered all_reduce 2 on world"));
  EXPECT_THAT(dead_before_its_waiter(-7ms, false).text, HasSubstr("rankfault saw no rank wait for it"));
  EXPECT_THAT(dead_before_its_waiter(-kSure, true).text, HasSubstr("rankfault saw no rank wait for it"));
}

TEST(Clocks, AWaiterOutlivedADeathOfAnotherNodeOnlyWhereThatIsCertain) {
  EXPECT_EQ(dead_before_its_waiter(1ms, false, 100us).confidence, Confidence::kProven);
  EXPECT_EQ(dead_before_its_waiter(1ms, true, 100us).confidence, Confidence::kInferred);
  EXPECT_EQ(dead_before_its_waiter(4800us, true, 4500us).confidence, Confidence::kProven);
}

// The call of rank 1 fails some time after (before) the death of rank 0.
Finding dead_with_a_failure(Duration after, bool two_nodes, bool waiter_ends) {
  TimelineBuilder job(2);
  put(job, {0}, "n1");
  put(job, {1}, two_nodes ? "n2" : "n1");
  job.everyone(all_reduce()).blocked(1, all_reduce()).wait(1s).returns(1, 0, RF_RESULT_THROWN);
  const Instant failed = job.now();
  job.killed(0);
  job.rank(0).end.time = failed - after;
  if (waiter_ends) job.wait(200us).exits(1, 3);
  job.wait(50ms);
  const Findings found = diagnose(job.build());
  const Finding* f = about(found, "dead_rank", 0);
  return f ? *f : Finding{};
}

TEST(Clocks, AFailureShowsThatItsRankOutlivedADeathOnlyWhereThatIsCertain) {
  EXPECT_EQ(dead_with_a_failure(1ms, false, true).confidence, Confidence::kProven);
  EXPECT_EQ(dead_with_a_failure(1ms, true, true).confidence, Confidence::kInferred);
  EXPECT_EQ(dead_with_a_failure(4500us, true, true).confidence, Confidence::kProven);
}

TEST(Clocks, AFailureThatMayBeFromBeforeADeathProvesNothing) {
  EXPECT_EQ(dead_with_a_failure(-3ms, false, false).confidence, Confidence::kProven);
  const Finding f = dead_with_a_failure(-3ms, true, false);
  EXPECT_EQ(f.confidence, Confidence::kInferred);
  EXPECT_THAT(
      why_failed(f, "ended_first"),
      HasSubstr("may have failed before this end: the clocks of nodes n1 and n2 differ by up to 4ms"));
  EXPECT_EQ(dead_with_a_failure(-500us, true, false).confidence, Confidence::kProven);
}

// Rank 1 dies while rank 0 of another node waits for it. Rank 0 handles it and goes on alone.
bool is_handled(Duration later) {
  TimelineBuilder job(3);
  put(job, {0, 2}, "n1");
  put(job, {1}, "n2");
  job.comm("pair", {0, 2}).everyone(all_reduce()).killed(1);
  for (const int r : {0, 2}) job.fails(r, all_reduce());
  job.wait(later).everyone(on(all_reduce(), "pair"));
  for (const int r : {0, 2}) job.exits(r, 0);
  const Findings found = diagnose(job.build());
  const Finding* f = about(found, "dead_rank", 1);
  return f && f->handled;
}

TEST(Clocks, ADeathIsHandledOnlyByACallThatCertainlyCameAfterIt) {
  EXPECT_FALSE(is_handled(kUnsure));
  EXPECT_TRUE(is_handled(kSure));
}

// Rank 2 fails on its own node. Its launcher ends rank 1 of the other node `later`; a negative time: rank 1
// was ended before. Ranks 0 and 3 wait for rank 1.
Findings failed_and_launcher_ended(Duration later, int signal = SIGTERM, bool in_a_call = false) {
  TimelineBuilder job(4, RF_LIB_MPI);
  put(job, {0, 1, 3}, "n1");
  put(job, {2}, "n2");
  job.everyone(all_reduce(), 2).blocked(0, all_reduce()).blocked(3, all_reduce()).wait(1s);
  if (in_a_call) job.fails(2, barrier(), 5);
  const Instant failed = job.now();
  job.exits(2, 1).killed(1, signal).wait(200ms);
  job.rank(2).end.time = failed + 1us;
  job.rank(1).end.time = failed + later;
  return diagnose(launched(job));
}

TEST(Clocks, AVictimOfTheLauncherIsToldOnlyWhereTheOtherCertainlyEndedBefore) {
  const Finding sure = *about(failed_and_launcher_ended(kSure), "dead_rank", 1);
  EXPECT_THAT(sure.text, HasSubstr("from the launcher, after rank 2 exited with 1"));
  EXPECT_EQ(sure.caused_by, 0);
  for (const Duration later : {kUnsure, -kUnsure}) {
    const Findings found = failed_and_launcher_ended(later);
    const Finding* f = about(found, "dead_rank", 1);
    ASSERT_NE(f, nullptr) << all_kinds(found);
    EXPECT_EQ(f->confidence, Confidence::kInferred) << f->text;
    EXPECT_THAT(f->text, Not(HasSubstr("from the launcher")));
    EXPECT_THAT(why_failed(*f, "its_own_end"),
                HasSubstr("the clocks of nodes n2 and n1 differ by up to 4ms"));
    EXPECT_EQ(f->caused_by, -1);
  }
  EXPECT_EQ(about(failed_and_launcher_ended(-kSure), "dead_rank", 1)->confidence, Confidence::kProven);
}

TEST(Clocks, AFailureThatADeathMayHaveCausedDoesNotMakeTheDeathTheLaunchersDoing) {
  const Findings unsure = failed_and_launcher_ended(52ms, SIGKILL, true);
  const Finding* f = about(unsure, "dead_rank", 1);
  ASSERT_NE(f, nullptr) << all_kinds(unsure);
  EXPECT_THAT(f->text, Not(HasSubstr("from the launcher")));
  EXPECT_EQ(f->confidence, Confidence::kInferred);
  EXPECT_THAT(about(failed_and_launcher_ended(60ms, SIGKILL, true), "dead_rank", 1)->text,
              HasSubstr("from the launcher"));
}

// Each of two ranks waits for the other on another communicator, until its own limit. Rank 0 gives up
// `inside` after rank 1 came.
Finding crossed_and_given_up(Duration inside) {
  TimelineBuilder job(2, RF_LIB_MPI);
  put(job, {0}, "n1");
  put(job, {1}, "n2");
  job.comm("a", {0, 1}).comm("b", {0, 1}).everyone(on(all_reduce(), "a")).everyone(on(all_reduce(), "b"));
  job.blocked(0, on(all_reduce(), "a")).wait(1s).blocked(1, on(all_reduce(), "b")).wait(inside);
  job.returns(0, 0, RF_RESULT_THROWN).wait(1s).returns(1, 0, RF_RESULT_THROWN);
  for (const int r : {0, 1}) job.destroys(r, "b").destroys(r, "a").exits(r, 3);
  const Findings found = diagnose(job.build());
  const Finding* f = finding_of(found, "order_deadlock");
  return f ? *f : Finding{};
}

TEST(Clocks, ADeadlockThatItsRanksEndedIsProvenOnlyIfTheyCertainlyWaitedTogether) {
  EXPECT_EQ(crossed_and_given_up(kSure).confidence, Confidence::kProven);
  const Finding f = crossed_and_given_up(kUnsure);
  EXPECT_EQ(f.kind, "order_deadlock");
  EXPECT_EQ(f.confidence, Confidence::kInferred);
  EXPECT_THAT(why_failed(f, "waited_together"),
              HasSubstr("the clocks of nodes n2 and n1 differ by up to 4ms, and these events are 1"));
}

// Rank 0 of n1 gives up the third all_reduce at its limit. Rank 1 of n2 has made two.
class LateOnAnotherNode : public ::testing::Test {
 protected:
  LateOnAnotherNode() {
    put(job, {0, 2, 3}, "n1", 1);
    put(job, {1}, "n2", 2);
    job.comm("pair", {1, 3}).everyone(all_reduce(), 2).wait(kSure);
    for (const int r : {0, 2, 3}) job.blocked(r, all_reduce());
    job.wait(1s);
  }
  void others_give_up() {
    for (const int r : {0, 2, 3}) {
      job.returns(r, 0, RF_RESULT_THROWN);
      rf_state& state = job.lane_of(r).state;
      state.deadline_ns = state.since_ns + ns_of(1s);
    }
    for (const int r : {0, 2, 3}) job.exits(r, 3);
  }
  Finding late_rank() {
    found = diagnose(job.build());
    const Finding* f = about(found, "late_rank", 1);
    return f ? *f : Finding{};
  }
  Findings found;
  TimelineBuilder job{4};
};

TEST_F(LateOnAnotherNode, IsProvenWhereItCertainlyCameLater) {
  others_give_up();
  job.wait(kSure).fails(1, all_reduce()).exits(1, 3);
  const Finding f = late_rank();
  EXPECT_EQ(f.confidence, Confidence::kProven) << to_json(f).dump(1);
  EXPECT_EQ(f.claim, Claim::kHadNotEntered);
  ASSERT_EQ(found.all.front().kind, "late_rank");
  for (size_t i = 1; i < found.all.size(); ++i) EXPECT_EQ(found.all[i].caused_by, 0) << found.all[i].text;
}

TEST_F(LateOnAnotherNode, IsInferredWhereItMayHaveComeBefore) {
  others_give_up();
  job.wait(kUnsure).blocked(1, all_reduce()).wait(kSure).returns(1, 0, RF_RESULT_THROWN).exits(1, 3);
  const Finding f = late_rank();
  EXPECT_EQ(f.confidence, Confidence::kInferred);
  EXPECT_EQ(failed_assumptions(f), std::vector<std::string>{"one_clock"});
  EXPECT_THAT(why_failed(f, "one_clock"),
              AllOf(HasSubstr("the clocks of nodes n1 and n2 differ by up to 4ms"), HasSubstr("apart")));
}

// It may have been in another call at that instant, and then it was held there.
TEST_F(LateOnAnotherNode, IsInferredWhereItMayHaveBeenInAnotherCall) {
  job.blocked(1, recv(3)).wait(kSure).returns(1).wait(kUnsure);
  others_give_up();
  job.wait(kSure).exits(1, 3);
  EXPECT_EQ(failed_assumptions(late_rank()), std::vector<std::string>{"one_clock"});
}

// A call of its own may have failed before, and the others gave up because of that.
TEST_F(LateOnAnotherNode, IsInferredWhereItMayHaveFailedBefore) {
  others_give_up();
  job.wait(kUnsure).fails(1, on(all_reduce(), "pair")).wait(kSure).exits(1, 3);
  EXPECT_EQ(failed_assumptions(late_rank()), std::vector<std::string>{"one_clock"});
}

// Its record is a copy. What it did right before the look may not be in it yet.
TEST_F(LateOnAnotherNode, ThatRunsIsProvenOnceItsCopyIsCertainlyNewer) {
  others_give_up();
  job.wait(kSure);
  EXPECT_EQ(failed_assumptions(late_rank()), std::vector<std::string>{"one_clock"});
  put(job, {0, 2, 3}, "n2", 2);
  EXPECT_EQ(failed_assumptions(late_rank()), std::vector<std::string>{"one_clock"}) << "all of one node";
  put(job, {0, 2, 3}, "n1", 1);
  job.wait(1s);
  EXPECT_EQ(late_rank().confidence, Confidence::kProven);
}

TEST_F(LateOnAnotherNode, IsInferredWhereNoClockWasCompared) {
  others_give_up();
  job.wait(kSure).fails(1, all_reduce()).exits(1, 3);
  job.rank(1).clock_error = kLongestDuration;
  EXPECT_EQ(why_failed(late_rank(), "one_clock"),
            "it is not known how much the clocks of nodes n1 and n2 differ");
}

// Rank 2 of another node is ended `later` than the others gave up in initialisation; a negative time: before.
Findings gave_up_joining(Duration later) {
  TimelineBuilder job(3);
  put(job, {0, 1}, "n1");
  put(job, {2}, "n2");
  const CallSpec init{RF_OP_INIT, 0, 0, 0, RF_PEER_NONE, 0x5, "world", 0, 0, 0};
  for (const int r : {0, 1}) job.blocked(r, init);
  job.wait(3s);
  for (const int r : {0, 1}) job.returns(r, 0, RF_RESULT_THROWN).exits(r, 3);
  const Instant over = job.now();
  job.wait(kSure).killed(2, SIGTERM);
  job.rank(2).end.time = over + later;
  return diagnose(job.build());
}

TEST(Clocks, ARankIsAbsentFromInitialisationOnlyIfItCertainlyEndedBefore) {
  EXPECT_EQ(finding_of(gave_up_joining(-kUnsure), "init_stall"), nullptr);
  const Findings sure = gave_up_joining(-kSure);
  ASSERT_NE(finding_of(sure, "init_stall"), nullptr) << all_kinds(sure);
  EXPECT_THAT(finding_of(sure, "init_stall")->text,
              HasSubstr("rank 2 was ended by SIGTERM before it joined"));
}

// A second process announces rank 1 on another node, and the first one ends `later`.
bool is_duplicate(Duration later) {
  TimelineBuilder job(2);
  put(job, {0, 1}, "n1");
  job.everyone(all_reduce()).wait(1s);
  Timeline t = job.build();
  ProcessView again = t.processes[1];
  again.node = "n2";
  again.id.pid = 77;
  again.member = t.look;
  t.processes[1].end = {EndKind::kEnded, again.member + later, true, false, 0};
  t.processes.push_back(again);
  return finding_of(diagnose(t), "duplicate_rank") != nullptr;
}

TEST(Clocks, OneRankHasTwoProcessesOnlyIfBothCertainlyLivedAtOneInstant) {
  EXPECT_TRUE(is_duplicate(kSure));
  EXPECT_FALSE(is_duplicate(kUnsure));
  EXPECT_FALSE(is_duplicate(-kUnsure));
}

TEST(Clocks, TimesOfOneNodeCompareExactly) {
  ProcessView a, b;
  a.node = b.node = "n1";
  a.clock_error = b.clock_error = kError;
  const Instant at(1s);
  EXPECT_TRUE(certainly_before(a, at, b, at + 1ns));
  EXPECT_FALSE(maybe_before(a, at, b, at));
  b.node = "";
  b.clock_error = {};
  EXPECT_FALSE(certainly_before(a, at, b, at + kError)) << "both bounds touch";
  EXPECT_TRUE(certainly_before(a, at, b, at + kError + 1ns));
  EXPECT_TRUE(maybe_before(a, at + kError - 1ns, b, at));
  EXPECT_FALSE(certainly_before(b, at, a, kEndOfTime - 1ns) && maybe_before(a, kEndOfTime, b, at));
  EXPECT_EQ(
      why_unordered(a, at, b, at + 1ms),
      "the clocks of node n1 and of the tool's host differ by up to 2ms, and these events are 1ms apart");
  a.clock_error = kLongestDuration;
  EXPECT_FALSE(certainly_before(a, Instant(1ns), b, at));
}

// The library refuses a call of rank 1, and the rank makes it again. Its node's times are 1ms late: the
// others seem to have left their second call before that, as if the refused one were the second.
TEST(Clocks, ARefusedCallHasNoPlaceByTimesThatAreNotCertain) {
  for (const bool one_node : {true, false}) {
    TimelineBuilder job(3, RF_LIB_MPI);
    put(job, {0, 2}, "n1");
    put(job, {1}, one_node ? "n1" : "n2");
    job.everyone(all_reduce()).fails(1, all_reduce(), 1).wait(2ms).everyone(all_reduce(), 3);
    for (const int r : {0, 1, 2}) job.finalized(r);
    for (const int r : {0, 1, 2}) job.exits(r, 0);
    for (Event& e : job.rank(1).history) e.record.time_ns += ns_of(kUnsure);
    const Findings found = diagnose(job.build());
    EXPECT_EQ(found.nothing_wrong(), !one_node) << to_json(found).dump(1);
  }
}

}  // namespace
}  // namespace rankfault::testing
