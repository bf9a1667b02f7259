// simulate: programs that finish, and those that stall, by the strictest rules.
#include "harness/reproduce/simulate.h"

#include <gtest/gtest.h>

#include "tests/reproduce/cases.h"

namespace rankfault {
namespace {

Simulated of(const Case& c) {
  std::vector<RankProgram> programs;
  for (const CaseRank& rank : c.ranks) programs.push_back(rank.calls);
  return simulate(c.groups, programs);
}

TEST(Simulate, FinishesEqualPrograms) {
  Case c = job_of(3);
  for (uint64_t seq = 1; seq <= 4; ++seq) all_make(c, {0, 1, 2}, sum(seq));
  const Simulated end = of(c);
  EXPECT_TRUE(end.stalled.empty());
  EXPECT_EQ(end.reached, (std::vector<size_t>{4, 4, 4}));
}

TEST(Simulate, NamesTheRankThatDoesNotCome) {
  Case c = job_of(3);
  all_make(c, {0, 1, 2}, sum(1));
  all_make(c, {0, 2}, sum(2));
  const Simulated end = of(c);
  ASSERT_EQ(end.stalled.size(), 2u);
  EXPECT_EQ(end.stalled[0].rank, 0);
  EXPECT_EQ(end.stalled[0].place, 1u);
  EXPECT_EQ(end.stalled[0].needs, (std::vector<int>{1}));
  EXPECT_FALSE(end.mismatch);
}

TEST(Simulate, SeesTwoDifferentCallsAtOnePlace) {
  Case c = job_of(2);
  all_make(c, {0}, sum(1));
  all_make(c, {1}, {.group = 0, .op = "barrier", .seq = 1});
  EXPECT_TRUE(of(c).mismatch);
}

TEST(Simulate, PairsMessagesByTheirOrderOnAChannel) {
  Case c = job_of(2);
  all_make(c, {0}, message("send", 1));
  all_make(c, {0}, message("recv", 1));
  all_make(c, {1}, message("recv", 0));
  all_make(c, {1}, message("send", 0));
  EXPECT_TRUE(of(c).stalled.empty());
}

TEST(Simulate, SendsThatDidNotCompleteStall) {
  Case c = job_of(2);
  for (const int r : {0, 1}) {
    all_make(c, {r}, message("send", 1 - r, true));
    all_make(c, {r}, message("recv", 1 - r));
  }
  EXPECT_EQ(of(c).stalled.size(), 2u);
  for (CaseRank& rank : c.ranks) rank.calls[0].open = false;  // they were buffered
  EXPECT_TRUE(of(c).stalled.empty());
}

TEST(Simulate, PendingMessagesHoldARankInItsWaitAlone) {
  Case c = job_of(2);
  for (const int r : {0, 1}) {
    CaseCall send = message("send", 1 - r), receive = message("recv", 1 - r);
    send.pending = receive.pending = true;
    all_make(c, {r}, send);
    all_make(c, {r}, receive);
    all_make(c, {r}, {.op = "wait"});
  }
  EXPECT_TRUE(of(c).stalled.empty());
  c.ranks[1].calls.pop_back();
  c.ranks[1].calls.erase(c.ranks[1].calls.begin());  // its send is left out
  const Simulated end = of(c);
  ASSERT_EQ(end.stalled.size(), 1u);
  EXPECT_EQ(end.stalled[0].rank, 0);
  EXPECT_EQ(end.stalled[0].call->op, "recv");
}

TEST(Simulate, GroupsInTwoOrdersStall) {
  Case c = job_of(2);
  c.groups.push_back({.name = "other", .members = {0, 1}});
  all_make(c, {0}, sum(1, 0));
  all_make(c, {0}, sum(1, 1));
  all_make(c, {1}, sum(1, 1));
  all_make(c, {1}, sum(1, 0));
  EXPECT_EQ(of(c).stalled.size(), 2u);
}

}  // namespace
}  // namespace rankfault
