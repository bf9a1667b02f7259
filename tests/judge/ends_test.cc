// ends_test: oracles over how ranks ended and what they left behind.
#include <gmock/gmock.h>

#include "tests/judge/census_line.h"
#include "tests/judge/facts.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;

TEST(Ended, ComparesEachRanksEndWithWhatIsExpected) {
  Facts facts;
  facts.exited(0, 3, 500).exited(1, 3, 500).signalled(2, 9, 100).exited(3, 3, 500);
  EXPECT_EQ(facts.expect("ended: {ranks: all, exit: nonzero}").result().verdict, Verdict::kPass);
  facts.expect("ended: {ranks: [2], exit: SIGKILL}").expect("ended: {ranks: [0, 1], exit: 3}");
  facts.expect("ended: {ranks: [2], exit: 9}").expect("ended: {ranks: all, exit: zero}");
  const Judgement judgement = facts.judged();
  EXPECT_EQ(judgement.expectations[1].verdict, Verdict::kPass);
  EXPECT_EQ(judgement.expectations[2].verdict, Verdict::kPass);
  EXPECT_EQ(judgement.expectations[3].verdict, Verdict::kFail);
  EXPECT_EQ(judgement.expectations[4].verdict, Verdict::kFail);
}

TEST(Ended, IsUnknownWhenAStatusIs) {
  Facts facts;
  facts.exited(0, 1, 5).exited(1, 1, 5).exited(2, 1, 5).died(3, 5);
  EXPECT_EQ(facts.expect("ended: {exit: nonzero}").result().verdict, Verdict::kUnknown);
  EXPECT_EQ(facts.expect("ended: {ranks: [3], exit: any}").judged().expectations[1].verdict, Verdict::kPass);
}

TEST(Ended, IsUnknownWhenNobodySawTheEnd) {
  EXPECT_EQ(Facts().expect("ended: {exit: zero}").result().verdict, Verdict::kUnknown);
}

TEST(Ended, FailsForARankThatStillRanWhenTheTimeWasOver) {
  Facts facts;
  facts.exited(0, 1, 5).exited(1, 1, 5).exited(2, 1, 5).torn_down("wall", 60'000).signalled(3, 9, 60'001);
  EXPECT_EQ(facts.expect("ended: {exit: nonzero}").result().verdict, Verdict::kFail);
}

TEST(Finished, NeedsEveryRankOfTheLastAttemptToExitZero) {
  Facts facts;
  facts.all_exited(1, 100).restarted(1).all_exited(0, 900, 1);
  EXPECT_EQ(facts.expect("finished").result().verdict, Verdict::kPass);
  EXPECT_EQ(Facts().all_exited(0, 5).signalled(2, 9, 6).expect("finished").result().verdict, Verdict::kFail);
  EXPECT_EQ(Facts().exited(0, 0, 5).expect("finished").result().verdict, Verdict::kUnknown);
}

Facts census() {
  Facts facts;
  facts.line("census", kCensus);
  return facts;
}

TEST(LeftNothing, PassesOnACensusThatFoundNothing) {
  Facts facts = census();
  const ExpectationResult result = facts.expect("left_nothing: [processes, shm]").result();
  EXPECT_EQ(result.verdict, Verdict::kPass);
  EXPECT_EQ(result.because, "nothing was left behind (looked at: processes, shm)");
}

TEST(LeftNothing, FailsOnWhatItLooksForAndOnNothingElse) {
  Facts facts = census();
  facts.line("leftover", {{"kind", "shm"}, {"what", "/dev/shm/x"}});
  facts.expect("left_nothing: [processes, sockets]").expect("left_nothing");
  const Judgement judgement = facts.judged();
  EXPECT_EQ(judgement.expectations[0].verdict, Verdict::kPass);
  EXPECT_EQ(judgement.expectations[1].verdict, Verdict::kFail);
  EXPECT_THAT(judgement.expectations[1].because, HasSubstr("/dev/shm/x"));
}

TEST(LeftNothing, FailsOnASystemVObjectAndIsUnknownOfOneThatNobodyOwns) {
  Facts facts = census();
  facts.line("leftover", {{"kind", "sysv"}, {"what", "System V segment 7"}});
  EXPECT_EQ(facts.expect("left_nothing").result().verdict, Verdict::kFail);
  Facts unclear = census();
  unclear.line("unclear_leftover", {{"kind", "sysv"}, {"what", "System V semaphore set 7"}});
  EXPECT_EQ(unclear.expect("left_nothing").result().verdict, Verdict::kUnknown);
  EXPECT_THAT(unclear.result().because, HasSubstr("semaphore set 7"));
  Facts others = census();
  others.line("unclear_leftover", {{"kind", "queues"}, {"what", "POSIX message queue /q"}});
  EXPECT_EQ(others.expect("left_nothing: [sysv]").result().verdict, Verdict::kPass);
}

TEST(LeftNothing, IsUnknownOfAKindThatTheCensusDidNotLookAt) {
  Facts old;
  old.line("census", {{"processes", 0}, {"shm", 0}, {"sockets", 0}, {"temp_files", 0}});
  EXPECT_EQ(old.expect("left_nothing").result().verdict, Verdict::kUnknown);
  EXPECT_THAT(old.result().because, HasSubstr("did not look at sysv"));
  Facts no_queues;
  no_queues.line("census", {{"processes", 0}, {"shm", 0}, {"sockets", 0}, {"temp_files", 0}, {"sysv", 0}});
  no_queues.expect("left_nothing").expect("left_nothing: [queues]");
  EXPECT_EQ(no_queues.result().verdict, Verdict::kPass);
  EXPECT_THAT(no_queues.result().because, HasSubstr("queues cannot be listed here"));
  EXPECT_EQ(no_queues.judged().expectations[1].verdict, Verdict::kUnknown);
}

TEST(LeftNothing, IsUnknownWhenTheGuardianDidNotAnswer) {
  for (const char* ev : {"census_unanswered", "guardian_stopped"}) {
    Facts facts = census();
    EXPECT_EQ(facts.line(ev).expect("left_nothing").result().verdict, Verdict::kUnknown) << ev;
  }
}

TEST(LeftNothing, IsUnknownWithoutACensus) {
  EXPECT_EQ(Facts().expect("left_nothing").result().verdict, Verdict::kUnknown);
  EXPECT_EQ(Facts().torn_down("wall", 60'000).expect("left_nothing").result().verdict, Verdict::kUnknown);
}

TEST(FinishedInTime, FailsByItselfWhenTheWallWasHit) {
  const Judgement judgement = Facts().torn_down("wall", 60'000).expect("left_nothing").judged();
  ASSERT_EQ(judgement.expectations.size(), 2u);
  EXPECT_EQ(judgement.expectations[1].id, "finished_in_time");
  EXPECT_EQ(judgement.expectations[1].verdict, Verdict::kFail);
  EXPECT_EQ(judgement.verdict, Verdict::kFail);
}

TEST(FinishedInTime, PassesWhenTheJobWasOverByItself) {
  Facts facts;
  EXPECT_EQ(facts.line("teardown", {{"reason", "over"}}).expect("finished_in_time").result().verdict,
            Verdict::kPass);
}

TEST(FinishedInTime, IsUnknownWhenTheHostWasStarvedOrTheRunInterrupted) {
  Facts starved;
  for (int i = 0; i < 30; ++i) starved.line("starved", {{"late_ns", 300'000'000}}, i * 1000);
  EXPECT_EQ(starved.torn_down("wall", 60'000).expect("finished_in_time").result().verdict, Verdict::kUnknown);
  EXPECT_EQ(Facts().torn_down("interrupted", 5).all_exited(0, 4).expect("finished").judged().verdict,
            Verdict::kUnknown);
}

TEST(Reference, PassesFailsAndIsUnknownAsTheJobIs) {
  const auto reference = [](Facts& facts) {
    facts.facts().plan.faults_on = false;
    return facts.judged();
  };
  EXPECT_EQ(reference(Facts().all_exited(0, 5)).verdict, Verdict::kPass);
  EXPECT_EQ(reference(Facts().all_exited(1, 5)).verdict, Verdict::kFail);
  EXPECT_EQ(reference(Facts().line("process")).verdict, Verdict::kUnknown);
  EXPECT_EQ(reference(Facts().all_exited(0, 5).found(finding("wedged", {}))).verdict, Verdict::kFail);
}

TEST(Reference, SaysWhichErrorsItSaw) {
  Facts facts;
  facts.all_exited(0, 50).mark(1, "error_mark", 2, 20, "timeout").mark(1, "error_mark", 3, 30, "timeout");
  facts.facts().plan.faults_on = false;
  const Judgement judgement = facts.judged();
  EXPECT_EQ(judgement.verdict, Verdict::kPass);
  EXPECT_THAT(judgement.expectations.back().because, HasSubstr("rank 1: it reported timeout (2 errors)"));
}

TEST(Reference, IsNotAskedForWhatOnlyAFaultCanCause) {
  Facts facts;
  facts.fault("kill", {2})
      .all_exited(0, 5)
      .expect("ended: {exit: nonzero}")
      .expect("unblocked: {after: kill}");
  facts.expect("blamed: {kind: dead_rank}").expect("finished").expect("same_as_reference: {values: [w]}");
  facts.facts().plan.faults_on = false;
  const Judgement judgement = facts.judged();
  ASSERT_EQ(judgement.expectations.size(), 2u);
  EXPECT_EQ(judgement.expectations[0].id, "finished");
  EXPECT_EQ(judgement.expectations[1].id, "reference");
  EXPECT_TRUE(judgement.as_it_must_be);
}

}  // namespace
}  // namespace rankfault::test
