// detected_test: a rank's own error, of the expected class, in time.
#include <gmock/gmock.h>

#include "tests/judge/facts.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;

Facts skipped_at_100(const std::string& yaml) {
  Facts facts;
  facts.fault("skip", {3}).struck("skip", 100, 4).expect(yaml);
  return facts;
}

TEST(Detected, PassesOnEachOwnErrorOfAWantedClassInTime) {
  Facts facts = skipped_at_100("detected: {by: others, as: [mismatch, timeout], within: 8s, after: skip}");
  facts.mark(0, "error_mark", 4, 200, "mismatch").mark(1, "error_mark", 4, 210, "mismatch");
  facts.call(2, RF_OP_ALL_REDUCE, 150, 1'150, RF_RESULT_THROWN);  // as long as its limit: a timeout
  EXPECT_EQ(facts.result().verdict, Verdict::kPass);
}

TEST(Detected, FailsWhenOneRankNoticedNothing) {
  Facts facts = skipped_at_100("detected: {by: others, within: 8s}");
  facts.mark(0, "error_mark", 4, 200, "mismatch").mark(1, "error_mark", 4, 210, "mismatch");
  EXPECT_EQ(facts.result().verdict, Verdict::kFail);
  EXPECT_THAT(facts.result().because, HasSubstr("rank 2 noticed nothing"));
}

TEST(Detected, OneIsEnoughWhenAsked) {
  Facts facts = skipped_at_100("detected: {by: others, enough: one}");
  EXPECT_EQ(facts.mark(0, "error_mark", 4, 200, "mismatch").result().verdict, Verdict::kPass);
}

TEST(Detected, FailsWhenItCameTooLateOrAsSomethingElse) {
  Facts late = skipped_at_100("detected: {by: [0], within: 1s}");
  EXPECT_EQ(late.mark(0, "error_mark", 4, 1'200, "timeout").result().verdict, Verdict::kFail);
  Facts other = skipped_at_100("detected: {by: [0], as: [mismatch]}");
  EXPECT_EQ(other.mark(0, "error_mark", 4, 200, "timeout").result().verdict, Verdict::kFail);
  Facts before = skipped_at_100("detected: {by: [0]}");
  EXPECT_EQ(before.mark(0, "error_mark", 4, 50, "timeout").result().verdict, Verdict::kFail);
}

// For example the injected error itself: what a device returned does not show how the job treated it.
TEST(Detected, WhatADeviceSaidInsideACallIsNotNoticed) {
  Facts facts = skipped_at_100("detected: {by: [0]}");
  facts.call(0, RF_OP_DEVICE_ALLOC, 150, 160, 2);
  EXPECT_EQ(facts.result().verdict, Verdict::kFail);
  facts.call(0, RF_OP_COMM_CREATE, 140, 170, 1);
  EXPECT_EQ(facts.result().verdict, Verdict::kPass);
}

TEST(Detected, CallsAFailureAfterADeathALostPeer) {
  Facts facts = skipped_at_100("detected: {by: [0], as: peer_lost}");
  facts.signalled(3, 9, 100).call(0, RF_OP_ALL_REDUCE, 90, 101, RF_RESULT_THROWN);
  EXPECT_EQ(facts.result().verdict, Verdict::kPass);
}

// Peers may see a death before rankfault does. A rank that failed of the same trouble is not its cause.
TEST(Detected, KnowsADeathThatWeNoticedLaterThanThePeers) {
  Facts silent = skipped_at_100("detected: {by: [0], as: peer_lost}");
  silent.call(3, RF_OP_ALL_REDUCE, 10, 20)
      .signalled(3, 9, 108)
      .call(0, RF_OP_ALL_REDUCE, 90, 101, RF_RESULT_THROWN);
  EXPECT_EQ(silent.result().verdict, Verdict::kPass);
  Facts same = skipped_at_100("detected: {by: [0], as: peer_lost}");
  same.call(3, RF_OP_ALL_REDUCE, 10, 105, RF_RESULT_THROWN).exited(3, 3, 108);
  same.call(0, RF_OP_ALL_REDUCE, 90, 101, RF_RESULT_THROWN);
  EXPECT_EQ(same.result().verdict, Verdict::kFail);
}

// A rank that reports errors at every step is not a detector.
TEST(Detected, WhatTheReferenceShowsTooIsNoDetection) {
  const auto noisy = [](Facts facts) {
    facts.reference(Facts().mark(0, "error_mark", 2, 20, "timeout after 12 ms").take());
    return facts;
  };
  Facts same = noisy(skipped_at_100("detected: {by: [0]}"));
  same.mark(0, "error_mark", 4, 200, "timeout after 31 ms");
  EXPECT_EQ(same.result().verdict, Verdict::kFail);
  EXPECT_EQ(same.result().because,
            "rank 0 noticed only: it reported timeout after 31 ms, in the reference run too");
  Facts other_class = noisy(skipped_at_100("detected: {by: [0]}"));
  EXPECT_EQ(other_class.mark(0, "error_mark", 4, 200, "mismatch").result().verdict, Verdict::kPass);
  Facts other_place = noisy(skipped_at_100("detected: {by: [0]}"));
  EXPECT_EQ(other_place.mark(0, "error_mark", 4, 200, "barrier: timeout").result().verdict, Verdict::kPass);
  Facts other_rank = noisy(skipped_at_100("detected: {by: [1]}"));
  EXPECT_EQ(other_rank.mark(1, "error_mark", 4, 200, "timeout after 31 ms").result().verdict, Verdict::kPass);
}

TEST(Detected, ACallThatFailsInTheReferenceTooIsNoDetection) {
  Facts facts = skipped_at_100("detected: {by: [0]}");
  facts.reference(Facts().call(0, RF_OP_ALL_REDUCE, 10, 20, 5).take());
  facts.call(0, RF_OP_ALL_REDUCE, 150, 160, 5);
  EXPECT_EQ(facts.result().verdict, Verdict::kFail);
  EXPECT_EQ(facts.call(0, RF_OP_BARRIER, 170, 180, 5).result().verdict, Verdict::kPass);
}

TEST(Detected, WhatWasSaidBeforeAnyFaultIsNoDetection) {
  Facts facts = skipped_at_100("detected: {by: [0]}");
  facts.mark(0, "error_mark", 2, 50, "timeout").mark(0, "error_mark", 4, 200, "timeout");
  EXPECT_EQ(facts.result().because, "rank 0 noticed only: it reported timeout, before the fault too");
  EXPECT_EQ(facts.mark(0, "error_mark", 5, 250, "mismatch").result().verdict, Verdict::kPass);
}

// The trouble that a first fault caused does not count as usual when the second one strikes.
TEST(Detected, WhatAnEarlierFaultCausedIsNotUsual) {
  Facts facts;
  facts.fault("first", {1}).struck("first", 40).fault("second", {2}).struck("second", 300);
  facts.expect("detected: {by: [0], after: second}");
  facts.mark(0, "error_mark", 2, 50, "peer_lost").mark(0, "error_mark", 4, 400, "peer_lost");
  EXPECT_EQ(facts.result().verdict, Verdict::kPass);
}

TEST(Detected, IsUnknownWhenTheRecordIsNotWholeOrTheHostWasStarved) {
  Facts torn = skipped_at_100("detected: {by: [0]}");
  torn.process(0).history_lost = 1;
  EXPECT_EQ(torn.result().verdict, Verdict::kUnknown);
  Facts starved = skipped_at_100("detected: {by: [0], within: 1s}");
  starved.mark(0, "error_mark", 4, 1'200, "timeout").line("starved", {{"late_ns", 200'000'000}}, 500);
  EXPECT_EQ(starved.result().verdict, Verdict::kUnknown);
}

}  // namespace
}  // namespace rankfault::test
