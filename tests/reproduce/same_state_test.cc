// same_state, shrink: when two jobs hang in the same way, and what a smaller job leaves out.
#include "harness/reproduce/same_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/reproduce/shrink.h"
#include "tests/reproduce/cases.h"

namespace rankfault {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

Case hung(int ranks, int culprit) {
  Case c = job_of(ranks);
  c.state = {.kind = "missing_call", .op = "all_reduce", .group = "world", .culprits = {culprit}};
  for (int r = 0; r < ranks; ++r) {
    for (uint64_t seq = 1; seq <= 20; ++seq) all_make(c, {r}, sum(seq));
    if (r != culprit) all_make(c, {r}, sum(21, 0, true)), c.state.waiters.push_back(r);
  }
  return c;
}

TEST(SameState, EqualStates) { EXPECT_EQ(difference(hung(4, 1), hung(4, 1)), ""); }

TEST(SameState, SaysWhatDiffers) {
  const Case wanted = hung(4, 1);
  Case got = hung(4, 1);
  got.state.kind = "call_mismatch";
  EXPECT_EQ(difference(wanted, got), "call_mismatch instead of missing_call");
  EXPECT_THAT(difference(wanted, hung(4, 2)), HasSubstr("blames rank 2 instead of rank 1"));
  got = hung(4, 1);
  got.ranks[3].calls.back().open = false;
  EXPECT_EQ(difference(wanted, got), "rank 3 does not wait in all_reduce");
  got = hung(4, 1);
  got.ranks[3].calls.back().op = "barrier";
  EXPECT_EQ(difference(wanted, got), "rank 3 does not wait in all_reduce");
  got.state.kind = "none";
  EXPECT_EQ(difference(wanted, got), "the small job does not hang");
}

TEST(SameState, ARankThatDoesNotComeIsSlowFirst) {
  Case wanted = hung(3, 1), got = hung(3, 1);
  wanted.state.kind = "stuck_outside";
  got.state.kind = "slow_rank";
  EXPECT_EQ(difference(wanted, got), "");
  got.state.kind = "dead_rank";
  EXPECT_NE(difference(wanted, got), "");
  wanted.state.kind_is_guessed = true;  // of a log: why it did not come is not shown
  EXPECT_EQ(difference(wanted, got), "");
  got.state.kind = "call_mismatch";
  EXPECT_NE(difference(wanted, got), "");
}

TEST(SameState, AWaitOnAnotherGroupIsAnotherWait) {
  Case wanted = hung(3, 1), got = hung(3, 1);
  got.groups.push_back({.name = "pair", .members = {0, 2}});
  got.ranks[0].calls.back().group = 1;
  EXPECT_EQ(difference(wanted, got), "rank 0 does not wait in all_reduce");
}

TEST(Shrink, LeavesOutWhatTheHangDoesNotNeed) {
  // The state comes back with two calls before the divergence and three ranks.
  const StillHangs hangs = [](const Case& c) {
    return c.world_size >= 3 && c.ranks[0].calls.size() >= 3 && c.state.culprits.size() == 1;
  };
  std::vector<std::string> kept;
  const Case small = shrink(hung(6, 4), hangs, [&](const std::string& what) { kept.push_back(what); });
  EXPECT_EQ(small.world_size, 3);
  EXPECT_LE(small.ranks[0].calls.size(), 4u);
  EXPECT_EQ(small.ranks[0].calls.back().count, 1);
  EXPECT_FALSE(kept.empty());
  EXPECT_EQ(small.folded_from[static_cast<size_t>(small.state.culprits[0])], 4);
}

TEST(Shrink, KeepsACaseThatNothingCanBeTakenFrom) {
  const Case c = hung(4, 1);
  EXPECT_EQ(to_json(shrink(c, [](const Case&) { return false; }, {})), to_json(c));
}

TEST(Shrink, CutsBehindAndBeforeTheDivergence) {
  Case c = hung(3, 1);
  all_make(c, {0}, sum(22, 0, true));
  EXPECT_THAT(without_calls_after(c).ranks[0].calls, SizeIs(21));
  EXPECT_THAT(with_calls_before(c, 5).ranks[1].calls, SizeIs(5));  // the culprit has no open call
  EXPECT_THAT(with_calls_before(c, 5).ranks[2].calls, SizeIs(6));
}

}  // namespace
}  // namespace rankfault
