// refused_test: a call that its library refused has no place in the order of calls, and a program that
// continues after it is healthy.
#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

constexpr int kErrRoot = 8;

void end_in_order(TimelineBuilder& job, int ranks) {
  for (int r = 0; r < ranks; ++r) job.finalized(r);
  for (int r = 0; r < ranks; ++r) job.exits(r, 0);
}

// Checks the diagnosis of a job after each of its steps.
struct LooksAt {
  TimelineBuilder& job;
  void expect_nothing(const char* when) const {
    const Findings found = diagnose(job.build());
    EXPECT_TRUE(found.nothing_wrong()) << when << ": " << to_json(found).dump(1);
  }
};

TEST(RefusedCall, IsNotPairedWithTheOthersNextCall) {
  TimelineBuilder job(4, RF_LIB_MPI);
  const LooksAt looks{job};
  job.everyone(all_reduce()).fails(0, broadcast(99), kErrRoot);
  looks.expect_nothing("alone");
  for (int i = 0; i < 3; ++i) {
    for (const int r : {1, 2, 3}) job.blocked(r, all_reduce());
    looks.expect_nothing("the others wait for it");
    job.blocked(0, all_reduce());
    for (const int r : {0, 1, 2, 3}) job.returns(r);
    looks.expect_nothing("all went on");
  }
  end_in_order(job, 4);
  looks.expect_nothing("at the end");
}

TEST(RefusedCall, OfOneRankAloneIsNotOneTooMany) {
  TimelineBuilder job(3, RF_LIB_MPI);
  const LooksAt looks{job};
  job.everyone(barrier()).fails(0, all_reduce(), 10);
  for (const int r : {0, 1, 2}) job.does(r, sendrecv((r + 1) % 3, (r + 2) % 3));
  looks.expect_nothing("while it runs");
  job.finalized(1).exits(1, 0);
  looks.expect_nothing("one has ended");
  end_in_order(job, 3);
  looks.expect_nothing("at the end");
}

// The repeated call looks like the refused one: the times distinguish the two.
TEST(RefusedCall, ThatIsMadeAgainHasOnePlace) {
  TimelineBuilder job(3, RF_LIB_MPI);
  const LooksAt looks{job};
  job.everyone(all_reduce()).fails(1, all_reduce(), 1).fails(1, all_reduce(), 1);
  job.everyone(all_reduce(), 3);
  looks.expect_nothing("while it runs");
  for (const int r : {0, 2}) job.blocked(r, all_reduce());
  job.wait(10s);
  const Findings late = diagnose(job.build());
  EXPECT_EQ(all_kinds(late), "slow_rank");
  EXPECT_EQ(late.all[0].ranks, std::vector<int>{1});
  job.blocked(1, all_reduce());
  for (const int r : {0, 1, 2}) job.returns(r);
  end_in_order(job, 3);
  looks.expect_nothing("at the end");
}

TEST(RefusedCall, OnAllRanksChangesNothing) {
  TimelineBuilder job(3, RF_LIB_MPI);
  for (const int r : {0, 1, 2}) job.fails(r, broadcast(99), kErrRoot);
  job.fails(1, broadcast(99), kErrRoot)
      .everyone(all_reduce(), 4)
      .fails(2, barrier(), 5)
      .everyone(all_reduce(8));
  end_in_order(job, 3);
  LooksAt{job}.expect_nothing("at the end");
}

TEST(RefusedCall, ThatIsNoLongerOnRecordShiftsNothing) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.everyone(all_reduce()).fails(0, broadcast(99), kErrRoot);
  for (int i = 0; i < 4; ++i) job.everyone(all_reduce()).everyone(barrier());
  for (const int r : {0, 1, 2}) job.loses(r, r == 0 ? 4 : 2);
  end_in_order(job, 3);
  LooksAt{job}.expect_nothing("at the end");
}

TEST(RefusedCall, OfAMessageSendsNone) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.everyone(barrier()).fails(0, send(1, 5), 3);
  end_in_order(job, 2);
  LooksAt{job}.expect_nothing("at the end");
}

// Near miss: calls that differ are reported, but not proven.
TEST(RefusedCall, DoesNotHideADifferenceAfterIt) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.everyone(all_reduce()).fails(0, broadcast(99), kErrRoot).everyone(all_reduce(), 4);
  for (const int r : {0, 2}) job.blocked(r, all_reduce());
  job.blocked(1, barrier());
  const Findings found = diagnose(job.build());
  const Finding* f = finding_of(found, "call_mismatch");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->ranks, std::vector<int>{1});
  EXPECT_EQ(f->seq->to, 6u) << "as the others count";
  EXPECT_EQ(f->confidence, Confidence::kInferred);
  EXPECT_NE(f->text.find("barrier"), std::string::npos) << f->text;
}

TEST(RefusedCall, ThatTheOthersWaitForIsTold) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.everyone(all_reduce()).fails(0, broadcast(99), kErrRoot);
  for (const int r : {1, 2}) job.blocked(r, broadcast(0));
  job.blocked(0, all_reduce());
  const Findings found = diagnose(job.build());
  ASSERT_NE(finding_of(found, "call_mismatch"), nullptr) << all_kinds(found);
  for (const Finding& f : found.all) EXPECT_EQ(f.confidence, Confidence::kInferred) << f.text;
}

// A death on a communicator on which a rank's count may be one too high: reported, but not proven.
TEST(RefusedCall, LeavesADeathAfterItInferred) {
  for (const bool refused : {false, true}) {
    TimelineBuilder job(4, RF_LIB_MPI);
    job.everyone(all_reduce());
    if (refused) job.fails(0, broadcast(99), kErrRoot);
    job.everyone(all_reduce(), 2);
    for (const int r : {0, 1, 3}) job.blocked(r, all_reduce());
    job.killed(2);
    const Findings found = diagnose(job.build());
    ASSERT_EQ(all_kinds(found), "dead_rank");
    EXPECT_EQ(found.all[0].seq->from, 4u);
    EXPECT_EQ(found.all[0].confidence == Confidence::kProven, !refused);
  }
}

// A wait that its limit ended is not a refusal: the finding says what the ranks were in when they gave up.
TEST(RefusedCall, IsNotWhatEndedARank) {
  TimelineBuilder job(4, RF_LIB_MPI);
  job.everyone(all_reduce());
  for (const int r : {0, 1, 3}) job.blocked(r, all_reduce());
  job.blocked(2, barrier()).wait(5s);
  for (const int r : {0, 1, 3}) job.returns(r, 0, 7).exits(r, 1);
  job.wait(20ms).killed(2, 15);
  const Findings found = diagnose(job.build());
  const Finding* f = finding_of(found, "call_mismatch");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->confidence, Confidence::kProven);
}

// Ranks end one after the other. A look in between sees two that have ended and two that have destroyed their
// communicator after the call that hung: no call that hung was refused.
TEST(RefusedCall, IsNoneThatHungBeforeItFailed) {
  TimelineBuilder job(4, RF_LIB_GLOO);
  job.everyone(all_reduce(), 3);
  for (const int r : {0, 1, 2}) job.blocked(r, all_reduce());
  job.blocked(3, barrier()).wait(1s);
  const auto blamed = [&job] {
    const Findings found = diagnose(job.build());
    return found.all.empty() ? "" : found.all[0].text;
  };
  const std::string before = blamed();
  EXPECT_THAT(before, ::testing::HasSubstr("rank 3 "));
  for (const int r : {0, 1, 2, 3}) job.returns(r, 0, RF_RESULT_THROWN).destroys(r);
  for (const int r : {0, 1, 2, 3}) {
    job.exits(r, 3);
    EXPECT_EQ(blamed(), before) << "rank " << r << " was the last that ended";
  }
}

// If a program ends because the library refused its call, that call does not exist for the other ranks.
TEST(RefusedCall, AsTheLastActOfARankIsNoSideOfAPair) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.everyone(all_reduce());
  for (const int r : {0, 2}) job.blocked(r, all_reduce());
  job.fails(1, broadcast(99), kErrRoot).exits(1, 1);
  const Findings found = diagnose(job.build());
  for (const Finding& f : found.all) EXPECT_NE(f.claim, Claim::kNotTheSameCall) << f.text;
  const Finding* f = finding_of(found, "exited_rank");
  EXPECT_NE(f, nullptr) << all_kinds(found);
}

// The failure that ended the rank was its second: its place depends on the first.
TEST(RefusedCall, BeforeTheOneThatEndedARankLeavesThatOneInferred) {
  for (const bool refused : {false, true}) {
    TimelineBuilder job(3, RF_LIB_MPI);
    job.everyone(all_reduce());
    if (refused) job.fails(1, broadcast(99), kErrRoot);
    for (const int r : {0, 2}) job.blocked(r, all_reduce());
    job.blocked(1, barrier()).wait(5s).returns(1, 0, 7).exits(1, 1);
    const Findings found = diagnose(job.build());
    const Finding* f = finding_of(found, "call_mismatch");
    ASSERT_NE(f, nullptr) << all_kinds(found);
    EXPECT_EQ(f->confidence == Confidence::kProven, !refused) << f->text;
  }
}

// A call that failed before a rank ended has another reason for its failure.
TEST(RefusedCall, BeforeADeathDoesNotProveIt) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.everyone(all_reduce()).fails(0, all_reduce(), 1).wait(1s).killed(2, 15);
  const Findings found = diagnose(job.build());
  const Finding* f = finding_of(found, "dead_rank");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->confidence, Confidence::kInferred);
}

}  // namespace
}  // namespace rankfault::testing
