// replay: the healthy programs and the divergence that a case gives.
#include "harness/reproduce/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/reproduce/simulate.h"
#include "tests/reproduce/cases.h"

namespace rankfault {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

Replay made(const Case& c) {
  Result<Replay> replay = replay_of(c);
  EXPECT_TRUE(replay.ok()) << (replay.ok() ? "" : replay.error().message);
  if (!replay) return {};
  EXPECT_TRUE(simulate(replay->groups, replay->healthy).stalled.empty());
  return std::move(*replay);
}

// Three sums; the others wait in the third, which rank 1 left out. It waits in the fourth call, a barrier of
// another group.
Case left_out() {
  Case c = job_of(3);
  for (uint64_t seq = 1; seq <= 2; ++seq) all_make(c, {0, 1, 2}, sum(seq));
  all_make(c, {0, 2}, sum(3, 0, true));
  c.state = {.kind = "missing_call",
             .op = "all_reduce",
             .group = "world",
             .culprits = {1},
             .waiters = {0, 2},
             .seq = 3};
  return c;
}

TEST(Replay, ALeftOutCallIsAFaultAtThatCall) {
  const Replay replay = made(left_out());
  ASSERT_THAT(replay.divergences, SizeIs(1));
  EXPECT_EQ(replay.divergences[0].fault, "skip_call");
  EXPECT_THAT(replay.divergences[0].ranks, ElementsAre(1));
  EXPECT_EQ(replay.divergences[0].place, 2u);
  for (const RankProgram& program : replay.healthy) EXPECT_THAT(program, SizeIs(3));
}

TEST(Replay, TheCallGoesBeforeWhatItsRankMadeInstead) {
  Case c = left_out();
  c.ranks[1].calls.push_back({.group = 0, .op = "barrier", .seq = 3, .open = true});
  const Replay replay = made(c);
  ASSERT_THAT(replay.healthy[1], SizeIs(4));
  EXPECT_EQ(replay.healthy[1][2].op, "all_reduce");
  EXPECT_EQ(replay.healthy[1][3].op, "barrier");
  EXPECT_EQ(replay.healthy[0].back().op, "barrier");  // the others would have made it, too
}

TEST(Replay, ADeadRankIsKilledBeforeTheCall) {
  Case c = left_out();
  c.state.kind = "dead_rank";
  c.ranks[1].state = RankState::kEnded;
  c.ranks[1].signal = 11;
  const Replay replay = made(c);
  EXPECT_EQ(replay.divergences[0].fault, "rank_kill");
  EXPECT_EQ(replay.divergences[0].signal, 11);
}

TEST(Replay, ARankThatDoesNotComeIsHeld) {
  Case c = left_out();
  c.state.kind = "stuck_outside";
  EXPECT_EQ(made(c).divergences[0].fault, "delay_call");
  c.state.kind = "stopped_rank";
  EXPECT_EQ(made(c).divergences[0].fault, "rank_stop");
}

TEST(Replay, ADifferentArgumentIsALineOfTheProgram) {
  Case c = job_of(3);
  all_make(c, {0, 1, 2}, sum(1));
  all_make(c, {0, 2}, sum(2, 0, true));
  CaseCall other = sum(2, 0, true);
  other.count = 99;
  all_make(c, {1}, other);
  c.state = {.kind = "call_mismatch",
             .op = "all_reduce",
             .group = "world",
             .field = "count",
             .culprits = {1},
             .waiters = {0, 2},
             .seq = 2};
  const Replay replay = made(c);
  EXPECT_EQ(replay.divergences[0].fault, "");
  const std::string text = program_text(replay);
  EXPECT_THAT(text, HasSubstr("healthy 1 all_reduce world float32 100 sum"));
  EXPECT_THAT(text, HasSubstr("diverging 1 all_reduce world float32 99 sum"));
}

TEST(Replay, ACycleOfGroupsHasAnOrderThatFinishes) {
  Case c = job_of(2);
  c.groups.push_back({.name = "other", .members = {0, 1}});
  all_make(c, {0}, sum(1, 0, true));
  all_make(c, {1}, sum(1, 1, true));
  c.state = {.kind = "order_deadlock", .sides = {{0}, {1}}};
  const Replay replay = made(c);
  EXPECT_FALSE(simulate(replay.groups, replay.diverging).stalled.empty());
}

TEST(Replay, AMessageThatNeverCameIsSent) {
  Case c = job_of(2);
  all_make(c, {0}, message("recv", 1, true));
  c.state = {.kind = "missing_call", .op = "send", .culprits = {1}, .waiters = {0}};
  const Replay replay = made(c);
  ASSERT_THAT(replay.healthy[1], SizeIs(1));
  EXPECT_EQ(replay.healthy[1][0].op, "send");
  EXPECT_EQ(replay.divergences[0].place, 0u);
}

TEST(Replay, SaysWhyAWedgedCallHasNone) {
  Case c = left_out();
  c.state.kind = "wedged";
  const Result<Replay> replay = replay_of(c);
  ASSERT_FALSE(replay.ok());
  EXPECT_THAT(replay.error().message, HasSubstr("below the calls"));
}

TEST(ProgramText, EqualCallsOfRanksAreOneLine) {
  Case c = left_out();
  c.groups.push_back({.name = "Tensor group (3)", .members = {0, 2}});
  all_make(c, {0, 2}, {.group = 1, .op = "broadcast", .dtype = "int64", .count = 5, .peer = 2, .seq = 1});
  EXPECT_EQ(program_text(made(c)),
            "ranks 3\n"
            "group tensor_group_3_1 0 2\n"
            "0-2 all_reduce world float32 100 sum\n"
            "0-2 all_reduce world float32 100 sum\n"
            "0-2 all_reduce world float32 100 sum\n"
            "0,2 broadcast tensor_group_3_1 int64 5 root 2\n");
}

}  // namespace
}  // namespace rankfault
