// agreed_test: the oracle passes when all ranks report the same at a step, and otherwise names the ranks that
// differ.
#include <gmock/gmock.h>

#include "tests/judge/facts.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;

Facts three_say(uint64_t first, uint64_t second, uint64_t third, const char* yaml) {
  Facts facts(3);
  facts.expect(yaml).all_exited(0, 900);
  facts.mark(0, "value", 5, 100, "weights", first).mark(1, "value", 5, 110, "weights", second);
  facts.mark(2, "value", 5, 120, "weights", third);
  return facts;
}

TEST(Agreed, PassesWhenAllReportTheSameBits) {
  EXPECT_EQ(three_say(7, 7, 7, "agreed: {values: [weights]}").result().verdict, Verdict::kPass);
}

TEST(Agreed, NamesTheRankWhoseValueDiffers) {
  Facts facts = three_say(7, 7, 8, "agreed: {values: [weights]}");
  EXPECT_EQ(facts.result().verdict, Verdict::kFail);
  EXPECT_THAT(facts.result().because, HasSubstr("on rank 2"));
}

TEST(Agreed, LooksAtTheRanksAndTheStepThatAreAskedFor) {
  EXPECT_EQ(three_say(7, 7, 8, "agreed: {values: weights, ranks: [0, 1]}").result().verdict, Verdict::kPass);
  EXPECT_EQ(three_say(8, 7, 7, "agreed: {values: weights, ranks: [1, 2]}").result().verdict, Verdict::kPass);
  EXPECT_EQ(three_say(7, 7, 7, "agreed: {values: weights, at: {step: 6}}").result().verdict,
            Verdict::kUnknown);
  Facts facts = three_say(7, 7, 7, "agreed: {values: weights, at: {step: 5}}");
  facts.mark(0, "value", 6, 200, "weights", 1).mark(1, "value", 6, 200, "weights", 2);
  EXPECT_EQ(facts.result().verdict, Verdict::kPass);
}

Facts committed(const char* yaml = "agreed: {decisions: [commit]}") {
  Facts facts(2);
  facts.expect(yaml);
  for (int step = 1; step <= 3; ++step)
    for (const int rank : {0, 1}) facts.mark(rank, "step_commit", step, 100 * step);
  return facts;
}

TEST(Agreed, FailsWhenOneRankCommitsAStepAndAnotherDoesNot) {
  Facts facts = committed();
  facts.all_exited(0, 900);
  EXPECT_EQ(facts.result().verdict, Verdict::kPass);
  facts.mark(1, "step_commit", 4, 400);
  EXPECT_EQ(facts.result().verdict, Verdict::kFail);
  EXPECT_THAT(facts.result().because, HasSubstr("rank 1 committed step 4, but rank 0 did not"));
}

TEST(Agreed, DoesNotBlameARankThatWeEnded) {
  Facts facts = committed();
  facts.mark(1, "step_commit", 4, 400).torn_down("wall", 500);
  EXPECT_EQ(facts.result().verdict, Verdict::kUnknown);
}

TEST(Agreed, IsUnknownOverARecordWithHoles) {
  Facts facts = committed();
  facts.all_exited(0, 900);
  facts.process(1).history_lost = 5;
  EXPECT_EQ(facts.result().verdict, Verdict::kUnknown);
  facts.mark(0, "step_commit", 4, 400);
  EXPECT_EQ(facts.result().verdict, Verdict::kUnknown);
}

TEST(Agreed, TakesAStepDoneAgainAsItWasDoneLast) {
  Facts facts = three_say(7, 7, 7, "agreed: {values: weights}");
  facts.restarted(1);
  for (const int rank : {0, 1, 2}) facts.mark(rank, "value", 5, 950, "weights", 9, 1);
  EXPECT_EQ(facts.result().verdict, Verdict::kPass);
}

TEST(Agreed, WhatWasSaidBeforeARestartNoLongerCounts) {
  Facts healed = three_say(7, 7, 8, "agreed: {values: weights}");
  healed.restarted(1);
  for (const int rank : {0, 1, 2}) healed.mark(rank, "value", 5, 950, "weights", 9, 1);
  EXPECT_EQ(healed.result().verdict, Verdict::kPass);
  Facts broken = three_say(7, 7, 7, "agreed: {values: weights}");
  broken.restarted(1);
  for (const int rank : {0, 1, 2}) broken.mark(rank, "value", 5, 950, "weights", rank == 1 ? 8 : 9, 1);
  EXPECT_EQ(broken.result().verdict, Verdict::kFail);
}

TEST(Agreed, IsUnknownWhenNobodySaysAnything) {
  EXPECT_EQ(committed("agreed: {decisions: [error]}").result().verdict, Verdict::kUnknown);
  EXPECT_EQ(committed("agreed: {marks: [skipped]}").result().verdict, Verdict::kUnknown);
}

TEST(Agreed, CountsOnlyWhatWasSaidFromTheFaultOn) {
  Facts facts = committed("agreed: {decisions: [error], after: kill}");
  facts.fault("kill", {1}).struck("kill", 350).all_exited(3, 900);
  facts.mark(0, "error_mark", 2, 200, "other");  // long before the fault, and unrelated to it
  EXPECT_EQ(facts.result().verdict, Verdict::kUnknown);
  facts.mark(0, "error_mark", 4, 400, "peer_lost");
  EXPECT_EQ(facts.result().verdict, Verdict::kFail);
  facts.mark(1, "error_mark", 4, 410, "timeout");  // another word for the same decision
  EXPECT_EQ(facts.result().verdict, Verdict::kPass);
}

TEST(Agreed, OneRankAloneOrOneWithoutARecordIsUnknown) {
  EXPECT_EQ(three_say(7, 7, 7, "agreed: {values: weights, ranks: [1]}").result().verdict, Verdict::kUnknown);
  Facts facts(3);
  facts.facts().timeline.processes.pop_back();  // rank 2 left no record
  facts.expect("agreed: {values: weights}").exited(0, 0, 900).exited(1, 0, 900);
  facts.mark(0, "value", 5, 100, "weights", 7).mark(1, "value", 5, 110, "weights", 7);
  EXPECT_EQ(facts.result().verdict, Verdict::kUnknown);
}

TEST(Agreed, IsAsBadAsTheWorstOfWhatIsNamed) {
  Facts facts = three_say(7, 7, 7, "agreed: {values: [weights, loss], decisions: [commit]}");
  facts.mark(0, "value", 5, 100, "loss", 1)
      .mark(1, "value", 5, 100, "loss", 2)
      .mark(2, "value", 5, 100, "loss", 1);
  for (const int rank : {0, 1, 2}) facts.mark(rank, "step_commit", 5, 130);
  EXPECT_EQ(facts.result().verdict, Verdict::kFail);
  EXPECT_THAT(facts.result().because, HasSubstr("loss at step 5"));
}

}  // namespace
}  // namespace rankfault::test
