// bystanders_test: which candidates are programs that a rank executed, and which of their records are kept.
#include "harness/observe/bystanders.h"

#include <gtest/gtest.h>

namespace rankfault::testing {
namespace {

class BystandersTest : public ::testing::Test {
 protected:
  static ProcessId id(int pid) { return {1, 2, pid, 3, 0}; }
  RankClaim claim(int pid, uint64_t opened, bool took_part = false) {
    return {id(pid), 0, 0, "RANK", instant_of(opened), took_part, {}};
  }
  void ends(RankClaim c, uint64_t at, int value = 0) {
    c.end = {EndKind::kEnded, instant_of(at), true, false, value};
    all_.take(c);
  }
  Bystanders all_;
};

TEST_F(BystandersTest, TheFirstOfARankIsNone) {
  all_.take(claim(10, 100));
  all_.take(claim(11, 200));
  EXPECT_FALSE(all_.is_one(id(10)));
  EXPECT_TRUE(all_.is_one(id(11)));
}

TEST_F(BystandersTest, WhoTakesPartIsNone) {
  all_.take(claim(10, 100));
  all_.take(claim(11, 200, true));
  EXPECT_FALSE(all_.is_one(id(11)));
}

TEST_F(BystandersTest, WhoeverComesAfterTheEndOfTheFirstIsNone) {
  ends(claim(10, 100), 150, 1);
  all_.take(claim(11, 200));
  EXPECT_FALSE(all_.is_one(id(11)));
}

TEST_F(BystandersTest, AnImageAfterExecIsNone) {
  all_.take(claim(10, 100));
  RankClaim next = claim(10, 200);
  next.process.image = 1;
  all_.take(next);
  EXPECT_FALSE(all_.is_one(next.process));
}

TEST_F(BystandersTest, AnotherRankAndAnotherVariableAreOthers) {
  all_.take(claim(10, 100));
  RankClaim other = claim(11, 200), launcher = claim(12, 200);
  other.rank = 1;
  launcher.source = "OMPI_COMM_WORLD_RANK";
  all_.take(other);
  all_.take(launcher);
  EXPECT_FALSE(all_.is_one(other.process));
  EXPECT_FALSE(all_.is_one(launcher.process));
}

TEST_F(BystandersTest, ARankThatDiesAtItsStartIsNotForgotten) {
  ends(claim(10, 100), 150, 1);
  EXPECT_FALSE(all_.is_over(id(10)));
  EXPECT_TRUE(all_.forgettable().empty());
}

TEST_F(BystandersTest, WhatEndedWellIsForgotten) {
  all_.take(claim(10, 100));
  ends(claim(11, 200), 300);
  EXPECT_EQ(all_.forgettable(), std::vector{id(11)});
  all_.forget(id(11));
  EXPECT_TRUE(all_.forgettable().empty());
}

// The wrapper of a dead rank ends a moment later: then the death of the rank counts.
TEST_F(BystandersTest, WhatEndedBadlyIsShownOnceItsWrapperEnds) {
  all_.take(claim(10, 100));
  ends(claim(11, 200), 300, 1);
  EXPECT_TRUE(all_.is_over(id(11)));
  EXPECT_TRUE(all_.forgettable().empty());
  ends(claim(10, 100), 310, 1);
  EXPECT_FALSE(all_.is_over(id(11)));
}

TEST_F(BystandersTest, OfManyThatEndedBadlyTheLastAreKept) {
  all_.take(claim(10, 100));
  for (int i = 0; i < 100; ++i) ends(claim(11 + i, 200 + static_cast<uint64_t>(i)), 400, 1);
  EXPECT_EQ(all_.forgettable().size(), 96u);
  all_.take(claim(10, 100, true));
  EXPECT_EQ(all_.forgettable().size(), 100u) << "the first is the rank";
}

}  // namespace
}  // namespace rankfault::testing
