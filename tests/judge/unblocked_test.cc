// unblocked_test: ranks leave in time the calls that were open at a fault and those they entered after it.
#include <gmock/gmock.h>

#include "tests/judge/facts.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;

constexpr const char* kWithinASecond = "unblocked: {ranks: all, within: 1s, after: kill}";

Facts killed_at_100() {
  Facts facts;
  facts.fault("kill", {2}).struck("kill", 100).signalled(2, 9, 100).expect(kWithinASecond);
  return facts;
}

TEST(Unblocked, PassesWhenEveryOpenCallWasLeftInTime) {
  Facts facts = killed_at_100();
  for (const int rank : {0, 1, 3}) facts.call(rank, RF_OP_ALL_REDUCE, 50, 600, -1).exited(rank, 3, 700);
  EXPECT_EQ(facts.result().verdict, Verdict::kPass);
  EXPECT_THAT(facts.result().because, HasSubstr("500ms"));
}

TEST(Unblocked, PassesWhenTheProcessEndedInsideTheCall) {
  Facts facts = killed_at_100();
  for (const int rank : {0, 1, 3}) facts.inside(rank, RF_OP_BARRIER, 50).signalled(rank, 6, 900);
  EXPECT_EQ(facts.result().verdict, Verdict::kPass);
}

TEST(Unblocked, FailsForACallThatWasLeftTooLate) {
  Facts facts = killed_at_100();
  facts.call(0, RF_OP_ALL_REDUCE, 50, 1'200, -1);
  EXPECT_EQ(facts.result().verdict, Verdict::kFail);
  EXPECT_THAT(facts.result().because, HasSubstr("rank 0 was inside all_reduce for 1.1s"));
}

TEST(Unblocked, FailsForACallThatIsStillOpenAtTheEnd) {
  Facts facts = killed_at_100();
  facts.inside(0, RF_OP_ALL_REDUCE, 50).torn_down("wall", 60'000);
  EXPECT_EQ(facts.result().verdict, Verdict::kFail);
}

// A skipped call does not hang any rank at once: the hang comes later, in a call entered after the fault.
TEST(Unblocked, FailsForACallEnteredAfterTheFaultAndNeverLeft) {
  Facts facts = killed_at_100();
  facts.call(0, RF_OP_ALL_REDUCE, 50, 110).inside(0, RF_OP_BARRIER, 5'000).torn_down("wall", 60'000);
  EXPECT_EQ(facts.result().verdict, Verdict::kFail);
}

// A c10d call returns at once. Its work then blocks a thread of the library, and its caller waits in code
// that makes no record.
TEST(Unblocked, FailsForAnExecutionThatIsStillOpen) {
  Facts facts = killed_at_100();
  facts.call(0, RF_OP_ALL_REDUCE, 110, 111).inside(0, RF_OP_ALL_REDUCE, 111).torn_down("wall", 60'000);
  facts.process(0).history.back().record.flags = RF_CALL_EXECUTION;
  EXPECT_EQ(facts.result().verdict, Verdict::kFail);
  EXPECT_THAT(facts.result().because, HasSubstr("rank 0 is still inside all_reduce"));
}

// rankfault may note a kill a little after the victim's peers left their calls because of it.
TEST(Unblocked, CountsCallsLeftBetweenTheActAndOurNoteOfIt) {
  Facts facts = killed_at_100();
  facts.facts().gates[0].asked = ms(90);
  facts.call(0, RF_OP_ALL_REDUCE, 50, 99, -1);
  for (const int rank : {1, 3}) facts.exited(rank, 3, 700);
  EXPECT_EQ(facts.result().verdict, Verdict::kPass);
}

TEST(Unblocked, IgnoresCallsThatWereOverAtTheFault) {
  Facts facts = killed_at_100();
  facts.call(0, RF_OP_ALL_REDUCE, 1, 99).call(1, RF_OP_ALL_REDUCE, 50, 200).exited(3, 0, 300);
  EXPECT_EQ(facts.result().verdict, Verdict::kPass);
}

// The rank is alive but none of its calls was seen: it may hang in a library that is not read.
TEST(Unblocked, IsUnknownForARankWhoseCallsAreNotRead) {
  for (const bool opaque : {false, true}) {
    Facts facts = killed_at_100();
    facts.call(0, RF_OP_ALL_REDUCE, 50, 99, -1).call(3, RF_OP_ALL_REDUCE, 50, 99, -1);
    facts.process(1).stage = RF_STAGE_MEMBER;
    if (opaque) facts.call(1, RF_OP_ALL_REDUCE, 50, 99, -1).process(1).opaque = RF_OPAQUE_COMMUNICATION;
    EXPECT_EQ(facts.result().verdict, Verdict::kUnknown) << opaque;
  }
}

TEST(Unblocked, IsUnknownWhenNobodyWasInsideACall) {
  EXPECT_EQ(killed_at_100().result().verdict, Verdict::kUnknown);
}

TEST(Unblocked, IsUnknownWhenTheHostWasStarvedMeanwhile) {
  Facts facts = killed_at_100();
  facts.call(0, RF_OP_ALL_REDUCE, 50, 1'200, -1).line("starved", {{"late_ns", 300'000'000}}, 800);
  EXPECT_EQ(facts.result().verdict, Verdict::kUnknown);
}

// The line is written long after the host had recovered.
TEST(Unblocked, AHostThatWasStarvedBeforeIsNoExcuse) {
  Facts facts = killed_at_100();
  const Json line = {{"late_ns", 2'000'000'000}, {"since", ms(10)}, {"until", ms(90)}};
  facts.call(0, RF_OP_ALL_REDUCE, 50, 5'000, -1).line("starved", line, 4'000);
  EXPECT_EQ(facts.result().verdict, Verdict::kFail);
}

TEST(Unblocked, OneLateWakeUpIsNoExcuseForALongDelay) {
  Facts facts = killed_at_100();
  facts.call(0, RF_OP_ALL_REDUCE, 50, 5'000, -1).line("starved", {{"late_ns", 99'000'000}}, 800);
  EXPECT_EQ(facts.result().verdict, Verdict::kFail);
}

TEST(Unblocked, IsUnknownWhenTheRunWasCutOffBeforeTheDeadline) {
  Facts facts = killed_at_100();
  facts.inside(0, RF_OP_ALL_REDUCE, 50).torn_down("interrupted", 300);
  EXPECT_EQ(facts.result().verdict, Verdict::kUnknown);
}

TEST(Unblocked, IsUnknownWhenTheRecordsOfTheFaultWereOverwritten) {
  Facts facts = killed_at_100();
  facts.call(0, RF_OP_ALL_REDUCE, 5'000, 5'001).call(1, RF_OP_ALL_REDUCE, 50, 200);
  facts.process(0).history_lost = 100;
  EXPECT_EQ(facts.result().verdict, Verdict::kUnknown);
}

TEST(Unblocked, IsUnknownForARankWithoutARecord) {
  Facts facts = killed_at_100();
  facts.call(0, RF_OP_ALL_REDUCE, 50, 200);
  std::erase_if(facts.facts().timeline.processes, [](const ProcessView& p) { return p.rank == 3; });
  EXPECT_EQ(facts.result().verdict, Verdict::kUnknown);
}

TEST(Unblocked, IsVoidWhenTheFaultHadNoEffect) {
  Facts facts;
  facts.fault("kill", {2}).fault("other", {1}).struck("other", 50).expect(kWithinASecond);
  facts.call(0, RF_OP_ALL_REDUCE, 50, 200);
  EXPECT_NE(facts.result().verdict, Verdict::kPass);
}

}  // namespace
}  // namespace rankfault::test
