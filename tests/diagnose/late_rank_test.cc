// late_rank_test: findings after ranks gave up a call that another rank had not entered.
#include <csignal>

#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

using ::testing::HasSubstr;

// Ranks 0, 2 and 3 of 4 give up their third all_reduce at its limit. Rank 1 has made two.
class LateRank : public ::testing::Test {
 protected:
  LateRank() { job.everyone(all_reduce(), 2); }

  void others_wait() {
    for (const int r : {0, 2, 3}) job.blocked(r, all_reduce());
    job.wait(1s);
  }
  void gives_up(int r, Duration limit = 1s) {
    job.returns(r, 0, RF_RESULT_THROWN);
    rf_state& state = job.lane_of(r).state;
    state.deadline_ns = limit > 0ns ? state.since_ns + ns_of(limit) : 0;
  }
  void others_give_up(Duration limit = 1s, int code = 3) {
    for (const int r : {0, 2, 3}) gives_up(r, limit);
    for (const int r : {0, 2, 3}) job.exits(r, code);
  }
  Findings found() { return diagnose(job.build()); }

  TimelineBuilder job{4};
};

TEST_F(LateRank, IsTheCauseOfThoseWhoGaveUp) {
  others_wait();
  others_give_up();
  job.wait(4s).fails(1, all_reduce()).exits(1, 3);
  const Findings all = found();
  const Finding& f = all.all.front();
  ASSERT_EQ(f.kind, "late_rank") << all_kinds(all);
  EXPECT_EQ(f.ranks, std::vector<int>{1});
  EXPECT_EQ(f.confidence, Confidence::kProven);
  EXPECT_EQ(f.claim, Claim::kHadNotEntered);
  EXPECT_EQ(f.op, "all_reduce");
  EXPECT_EQ(f.seq->from, 3u);
  EXPECT_THAT(f.text,
              HasSubstr("ranks 0 2 3 gave up all_reduce 3 on world while rank 1 had not entered it; rank 1 "
                        "had been outside every call since it left all_reduce 2 on world"));
  EXPECT_THAT(f.text, HasSubstr("entered the call 4"));
  ASSERT_GT(all.all.size(), 1u);
  for (size_t i = 1; i < all.all.size(); ++i) EXPECT_EQ(all.all[i].caused_by, 0) << all.all[i].text;
}

// PyTorch's monitors ask the store now and then, on threads of their own.
TEST_F(LateRank, NamesTheLastCallOfAThreadThatUsesTheCommunicator) {
  others_wait();
  CallSpec store = on(barrier(), "store");
  store.lane = 1;
  job.comm("store", {0, 1, 2, 3}).wait(10ms).does(1, store);
  others_give_up();
  job.wait(4s).exits(1, 3);
  EXPECT_THAT(found().all.front().text, HasSubstr("since it left all_reduce 2 on world"));
}

TEST_F(LateRank, SaysFromWhenToWhenItWasStopped) {
  others_wait();
  job.rank(1).stops = {{job.now() - 500ms, job.now() + 1s}};
  others_give_up();
  job.wait(4s).killed(1);
  const Findings all = found();
  ASSERT_EQ(all.all.front().kind, "late_rank") << all_kinds(all);
  EXPECT_THAT(all.all.front().text, HasSubstr("rank 1 was stopped (state T) from "));
  EXPECT_THAT(all.all.front().text, HasSubstr("never entered the call, and was ended by SIGKILL"));
}

// A stop after the others gave up does not explain why the rank was late.
TEST_F(LateRank, IsNotToldAsStoppedByAStopThatCameLater) {
  others_wait();
  others_give_up();
  job.wait(1s);
  job.rank(1).stops = {{job.now(), job.now() + 1s}};
  job.wait(4s).killed(1);
  const Findings all = found();
  ASSERT_EQ(all.all.front().kind, "late_rank") << all_kinds(all);
  EXPECT_THAT(all.all.front().text, ::testing::Not(HasSubstr("stopped")));
}

TEST_F(LateRank, IsInferredWhileTheOthersMayRecover) {
  others_wait();
  gives_up(0);
  const Findings all = found();
  const Finding* f = finding_of(all, "late_rank");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->confidence, Confidence::kInferred);
  EXPECT_EQ(failed_assumptions(*f), std::vector<std::string>{"did_not_recover"});
}

// Gloo pairs by operation and tag: rank 1 left out a broadcast, so its call at place 4 is the others' call 5.
TEST_F(LateRank, IsInferredWhereCallsBeforeDiffer) {
  for (const int r : {0, 2, 3}) job.does(r, broadcast(0));
  job.does(1, all_reduce());
  for (const int r : {0, 2, 3}) job.does(r, all_reduce());
  others_wait();
  others_give_up();
  job.wait(4s).killed(1);
  const Findings all = found();
  const Finding* f = finding_of(all, "late_rank");
  ASSERT_NE(f, nullptr) << all_kinds(all);
  EXPECT_EQ(f->confidence, Confidence::kInferred);
  EXPECT_EQ(failed_assumptions(*f), std::vector<std::string>{"same_calls_before"});
}

// The sums of the calls that a ring has lost show whether all members made the same ones.
TEST_F(LateRank, IsInferredWhereLostCallsMayDiffer) {
  for (const int r : {0, 2, 3}) job.does(r, broadcast(0));
  job.does(1, barrier()).everyone(all_reduce(), 4);
  others_wait();
  others_give_up();
  for (const int r : {0, 1, 2, 3}) job.loses(r, 6);
  job.wait(4s).killed(1);
  const Findings all = found();
  const Finding* f = finding_of(all, "late_rank");
  ASSERT_NE(f, nullptr) << all_kinds(all);
  EXPECT_EQ(failed_assumptions(*f), std::vector<std::string>{"same_calls_before"});
}

TEST_F(LateRank, IsInferredWhereNoLimitIsOnRecord) {
  others_wait();
  others_give_up(0s);
  const Findings all = found();
  ASSERT_EQ(all.all.front().kind, "late_rank") << all_kinds(all);
  EXPECT_EQ(failed_assumptions(all.all.front()), std::vector<std::string>{"left_by_its_limit"});
}

// The absence of the late rank itself does not count as a usual wait.
TEST_F(LateRank, IsFoundWithoutALimitAfterTheLateRankCameBack) {
  others_wait();
  others_give_up(0s);
  job.wait(4s).fails(1, all_reduce()).exits(1, 3);
  const Findings all = found();
  ASSERT_EQ(all.all.front().kind, "late_rank") << all_kinds(all);
  EXPECT_EQ(all.all.front().ranks, std::vector<int>{1});
}

TEST_F(LateRank, IsInferredWithTheClocksOfTwoMachines) {
  job.rank(1).id.host = 77;
  others_wait();
  others_give_up();
  const Findings all = found();
  ASSERT_EQ(all.all.front().kind, "late_rank") << all_kinds(all);
  EXPECT_EQ(failed_assumptions(all.all.front()), std::vector<std::string>{"one_clock"});
}

TEST_F(LateRank, IsSilentOfACallThatWasRefused) {
  for (const int r : {0, 2, 3}) job.fails(r, all_reduce(), 5);
  for (const int r : {0, 2, 3}) job.exits(r, 3);
  EXPECT_EQ(finding_of(found(), "late_rank"), nullptr);
}

TEST_F(LateRank, IsSilentWhereEveryoneCame) {
  others_wait();
  job.blocked(1, all_reduce()).wait(1s);
  others_give_up();
  EXPECT_EQ(finding_of(found(), "late_rank"), nullptr);
}

TEST_F(LateRank, IsSilentWhereAMemberDiedBefore) {
  for (const int r : {0, 2}) job.blocked(r, all_reduce());
  job.wait(500ms).killed(3).wait(500ms);
  for (const int r : {0, 2}) gives_up(r);
  for (const int r : {0, 2}) job.exits(r, 3);
  const Findings all = found();
  EXPECT_EQ(finding_of(all, "late_rank"), nullptr) << "rank 1 may have come in time";
  EXPECT_EQ(all.all.front().kind, "dead_rank");
}

TEST_F(LateRank, IsSilentOfARankThatIsHeldItself) {
  job.comm("other", {1, 3});
  others_wait();
  job.blocked(1, on(all_reduce(), "other"));
  others_give_up();
  EXPECT_EQ(finding_of(found(), "late_rank"), nullptr);
}

TEST_F(LateRank, IsSilentOfAJobThatWentOn) {
  others_wait();
  for (const int r : {0, 2, 3}) gives_up(r);
  job.fails(1, all_reduce());
  job.everyone(all_reduce());
  for (const int r : {0, 1, 2, 3}) job.exits(r, 0);
  EXPECT_EQ(finding_of(found(), "late_rank"), nullptr);
}

TEST_F(LateRank, IsSilentOfARankThatWasThrough) {
  others_wait();
  job.exits(1, 0);
  others_give_up();
  EXPECT_EQ(finding_of(found(), "late_rank"), nullptr);
}

}  // namespace
}  // namespace rankfault::testing
