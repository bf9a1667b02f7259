// fold: which ranks of a large job stay, and how the small job is numbered.
#include "harness/reproduce/fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/reproduce/cases.h"

namespace rankfault {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::SizeIs;

// 1,024 ranks in tensor groups of 8 neighbours, pipeline groups of 4 and data groups of 32.
Case grid() {
  Case c = job_of(1024);
  for (int first = 0; first < 1024; first += 8) {
    CaseGroup tensor{.name = "tensor"};
    for (int i = 0; i < 8; ++i) tensor.members.push_back(first + i);
    c.groups.push_back(tensor);
  }
  for (int first = 0; first < 256; ++first) {
    CaseGroup pipeline{.name = "pipeline"};
    for (int i = 0; i < 4; ++i) pipeline.members.push_back(first + 256 * i);
    c.groups.push_back(pipeline);
  }
  c.state.kind = "missing_call";
  c.state.culprits = {515};
  c.state.waiters = {512, 513, 514, 516, 517, 518, 519};
  return c;
}

TEST(Fold, KeepsTheCulpritTheWaitersAndTheEnds) {
  const std::vector<int> keep = ranks_to_keep(grid(), 8);
  EXPECT_THAT(keep, SizeIs(8));
  EXPECT_TRUE(std::is_sorted(keep.begin(), keep.end()));
  for (const int rank : {0, 515, 519, 1023}) EXPECT_THAT(keep, Contains(rank));
}

TEST(Fold, GivesTheGroupsOfTheCulpritASecondMember) {
  const Case c = grid();
  const std::vector<int> keep = ranks_to_keep(c, 16);
  for (const CaseGroup& group : c.groups) {
    if (std::find(group.members.begin(), group.members.end(), 515) == group.members.end()) continue;
    EXPECT_GE(std::count_if(group.members.begin(), group.members.end(),
                            [&](int r) { return std::binary_search(keep.begin(), keep.end(), r); }),
              2)
        << group.name;
  }
}

TEST(Fold, LeavesASmallJobAsItIs) {
  Case c = job_of(4);
  c.state.culprits = {2};
  EXPECT_THAT(ranks_to_keep(c, 8), ElementsAre(0, 1, 2, 3));
}

TEST(Fold, KeepsTheFirstAndTheLastOfManyCulprits) {
  Case c = job_of(100);
  for (int r = 10; r < 90; ++r) c.state.culprits.push_back(r);
  const std::vector<int> keep = ranks_to_keep(c, 8);
  for (const int rank : {0, 10, 89, 99}) EXPECT_THAT(keep, Contains(rank));
}

TEST(Fold, NumbersRanksGroupsAndRootsAnew) {
  Case c = job_of(10);
  c.groups.push_back({.name = "pair", .members = {3, 9}});
  c.groups.push_back({.name = "gone", .members = {1, 3}});
  c.state.culprits = {9};
  all_make(c, {3, 9}, sum(1, 1));
  all_make(c, {3}, sum(1, 2));
  all_make(c, {3, 9}, {.group = 0, .op = "broadcast", .count = 1, .peer = 9, .seq = 1});
  all_make(c, {3}, {.group = 0, .op = "broadcast", .count = 1, .peer = 5, .seq = 2});
  all_make(c, {3}, message("send", 5));
  const Case small = folded(c, {0, 3, 9});
  EXPECT_EQ(small.world_size, 3);
  EXPECT_THAT(small.folded_from, ElementsAre(0, 3, 9));
  ASSERT_THAT(small.groups, SizeIs(2));
  EXPECT_THAT(small.groups[1].members, ElementsAre(1, 2));
  EXPECT_THAT(small.state.culprits, ElementsAre(2));
  const std::vector<CaseCall>& calls = small.ranks[1].calls;
  ASSERT_THAT(calls,
              SizeIs(3));  // without the call on a group of one, and the message to a rank that is gone
  EXPECT_EQ(calls[1].peer, 2);
  EXPECT_EQ(calls[2].peer, 0);  // the root is gone: the first member takes its part
}

TEST(Fold, ScalesCountsAndKeepsThemDifferent) {
  Case c = job_of(2);
  for (const int64_t count : {467'019'003, 467'019'002, 10, 0}) {
    CaseCall call = sum(1);
    call.count = count;
    all_make(c, {0}, call);
  }
  scale_counts(c, 1000);
  std::vector<int64_t> counts;
  for (const CaseCall& call : c.ranks[0].calls) counts.push_back(call.count);
  EXPECT_LE(counts[0], 1001);
  EXPECT_GT(counts[0], counts[1]);
  EXPECT_EQ(counts[2], 1);
  EXPECT_EQ(counts[3], 0);
}

}  // namespace
}  // namespace rankfault
