// steps_test: oracles over steps and values: no_commit_after, commits, resumed, same_as_reference.
#include <gmock/gmock.h>

#include <bit>

#include "tests/judge/facts.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;

Facts struck_in_step_40() {
  Facts facts;
  facts.fault("skip", {3}).struck("skip", 100, 40).expect("no_commit_after: {fault: skip}");
  return facts;
}

TEST(NoCommitAfter, PassesWhenOnlyEarlierStepsWereCommitted) {
  Facts facts = struck_in_step_40();
  facts.mark(0, "step_commit", 39, 90).mark(1, "step_commit", 39, 500);  // late, and correct
  EXPECT_EQ(facts.result().verdict, Verdict::kPass);
}

TEST(NoCommitAfter, FailsWhenTheStepOrALaterOneWasCommitted) {
  Facts facts = struck_in_step_40();
  facts.mark(0, "step_commit", 39, 90).mark(1, "step_commit", 40, 500);
  EXPECT_EQ(facts.result().verdict, Verdict::kFail);
  EXPECT_THAT(facts.result().because, HasSubstr("rank 1 committed step 40"));
}

TEST(NoCommitAfter, KnowsACommitWhoseRecordWasOverwritten) {
  Facts facts = struck_in_step_40();
  facts.mark(0, "step_commit", 39, 90).process(1).steps_committed = 42;
  EXPECT_EQ(facts.result().verdict, Verdict::kFail);
}

TEST(NoCommitAfter, LetsARestartedAttemptCommitTheStepAgain) {
  Facts facts = struck_in_step_40();
  facts.mark(0, "step_commit", 39, 90).restarted(1).mark(0, "step_commit", 40, 900, "", 0, 1);
  EXPECT_EQ(facts.result().verdict, Verdict::kPass);
}

TEST(NoCommitAfter, IsUnknownWhereNothingMarksStepsOrCommits) {
  EXPECT_EQ(struck_in_step_40().result().verdict, Verdict::kUnknown);
  Facts facts;
  facts.fault("skip", {3}).struck("skip", 100).expect("no_commit_after: {fault: skip}");
  EXPECT_EQ(facts.mark(0, "step_commit", 1, 5).result().verdict, Verdict::kUnknown);
}

TEST(Commits, CountsDifferentStepsOverAllAttempts) {
  Facts facts(1);
  for (int step = 1; step <= 3; ++step) facts.mark(0, "step_commit", step, step);
  facts.mark(0, "step_commit", 3, 10, "", 0, 1);
  EXPECT_EQ(facts.expect("commits: {at_least: 3, at_most: 3}").result().verdict, Verdict::kPass);
  facts.expect("commits: {at_least: 4}");
  EXPECT_EQ(facts.judged().expectations[1].verdict, Verdict::kFail);
  EXPECT_EQ(Facts(1).expect("commits: {at_least: 1}").result().verdict, Verdict::kUnknown);
}

Facts restarted_at(int64_t step, const std::string& yaml = "resumed") {
  Facts facts(2);
  facts.fault("kill", {1}).struck("kill", 100).expect(yaml);
  facts.mark(0, "mark", 20, 50, "checkpoint");
  for (int64_t s = 1; s <= 25; ++s) facts.mark(0, "step_commit", s, 60);
  facts.restarted(1);
  for (const int rank : {0, 1}) facts.mark(rank, "step_begin", step, 900, "", 0, 1);
  return facts;
}

TEST(Resumed, PassesAtTheStepAfterTheNewestWholeCheckpoint) {
  EXPECT_EQ(restarted_at(21).result().verdict, Verdict::kPass);
  EXPECT_EQ(restarted_at(21, "resumed: {lost_at_most: 5}").result().verdict, Verdict::kPass);
}

TEST(Resumed, FailsElsewhereOrWhenTooMuchWasLost) {
  EXPECT_EQ(restarted_at(1).result().verdict, Verdict::kFail);
  EXPECT_EQ(restarted_at(26).result().verdict, Verdict::kFail);
  EXPECT_EQ(restarted_at(21, "resumed: {lost_at_most: 4}").result().verdict, Verdict::kFail);
}

// explain prints these lines.
TEST(Resumed, PointsToWhereTheNewAttemptBegins) {
  Facts facts = restarted_at(1);
  const auto mark = [&](int attempt) {
    facts.line("log_marker", {{"rank", 0}, {"attempt", attempt}, {"marker", "step_begin"}, {"text", "1"}});
    return facts.facts().journal.back().n;
  };
  const uint64_t before = mark(0), restart = mark(1), later = mark(1);
  const std::vector<uint64_t> lines = facts.result().journal;
  EXPECT_THAT(lines, testing::Contains(restart));
  EXPECT_THAT(lines, testing::Not(testing::Contains(before)));
  EXPECT_THAT(lines, testing::Not(testing::Contains(later)));
}

TEST(Resumed, FailsWhenTheJobWasOverWithoutARestart) {
  Facts facts;
  facts.fault("kill", {1}).struck("kill", 100).expect("resumed");
  EXPECT_EQ(facts.result().verdict, Verdict::kFail);
}

TEST(Resumed, IsUnknownWhenAnUnfinishedCheckpointMayHaveBeenWhole) {
  Facts facts = restarted_at(26);
  facts.mark(0, "phase", 0, 70, "checkpoint");
  EXPECT_EQ(facts.result().verdict, Verdict::kUnknown);
}

TEST(Resumed, IsUnknownWhereNothingMarksCheckpoints) {
  const auto restarted = [](const std::string& yaml) {
    Facts facts(1);
    facts.fault("kill", {0}).struck("kill", 100).expect(yaml);
    facts.mark(0, "step_begin", 1, 10).restarted(1).mark(0, "step_begin", 15, 200, "", 0, 1);
    return facts;
  };
  EXPECT_EQ(restarted("resumed").result().verdict, Verdict::kUnknown);
  EXPECT_EQ(restarted("resumed: {step: 15}").result().verdict, Verdict::kPass);
  EXPECT_EQ(restarted("resumed: {step: 14}").result().verdict, Verdict::kFail);
}

TEST(Resumed, SaysWhyItsStepIsDue) {
  EXPECT_EQ(restarted_at(1).result().because,
            "rank 0 began attempt 1 at step 1; the newest whole checkpoint is of step 20");
  EXPECT_EQ(restarted_at(1, "resumed: {step: 15}").result().because,
            "rank 0 began attempt 1 at step 1; the scenario says step 15");
}

Facts with_value(uint64_t value, const std::string& yaml) {
  Facts reference(1), facts(1);
  reference.mark(0, "value", 60, 100, "weights", std::bit_cast<uint64_t>(1.5));
  facts.mark(0, "value", 60, 100, "weights", value).expect(yaml).reference(reference.take());
  return facts;
}

TEST(SameAsReference, ComparesBitForBit) {
  const char* yaml = "same_as_reference: {values: [weights], at: {step: 60}, equal: bits}";
  EXPECT_EQ(with_value(std::bit_cast<uint64_t>(1.5), yaml).result().verdict, Verdict::kPass);
  EXPECT_EQ(with_value(std::bit_cast<uint64_t>(1.5) ^ 1, yaml).result().verdict, Verdict::kFail);
}

TEST(SameAsReference, ComparesWithinABound) {
  const char* yaml = "same_as_reference: {values: weights, equal: {abs: 0.01}}";
  EXPECT_EQ(with_value(std::bit_cast<uint64_t>(1.505), yaml).result().verdict, Verdict::kPass);
  EXPECT_EQ(with_value(std::bit_cast<uint64_t>(1.52), yaml).result().verdict, Verdict::kFail);
  const uint64_t nan = std::bit_cast<uint64_t>(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(with_value(nan, yaml).result().verdict, Verdict::kFail);
}

TEST(SameAsReference, FailsWhenTheValueWasNeverReported) {
  Facts facts = with_value(0, "same_as_reference: {values: [weights]}");
  facts.facts().marks.clear();
  EXPECT_EQ(facts.result().verdict, Verdict::kFail);
}

TEST(SameAsReference, IsUnknownWithoutAReferenceOrItsValue) {
  EXPECT_EQ(Facts().expect("same_as_reference: {values: [w]}").result().verdict, Verdict::kUnknown);
  EXPECT_EQ(with_value(0, "same_as_reference: {values: [loss]}").result().verdict, Verdict::kUnknown);
}

TEST(SameAsReference, TakesAStepDoneAgainAsItWasDoneLast) {
  Facts facts = with_value(7, "same_as_reference: {values: [weights]}");
  facts.mark(0, "value", 60, 50, "weights", std::bit_cast<uint64_t>(1.5), 1);
  EXPECT_EQ(facts.result().verdict, Verdict::kPass);
}

}  // namespace
}  // namespace rankfault::test
