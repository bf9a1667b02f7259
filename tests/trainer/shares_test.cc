// shares tests: the whole batch is distributed, in proportion to speed.
#include "workloads/trainer/shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace trainer {
namespace {

using testing::ElementsAre;

TEST(Shares, FollowTheSpeedOfEachRank) {
  EXPECT_THAT(shares_by_speed(36, {100, 100, 100, 100}), ElementsAre(9, 9, 9, 9));
  EXPECT_THAT(shares_by_speed(10, {100, 300}), ElementsAre(7, 3));
  EXPECT_THAT(shares_by_speed(32, {20, 20, 20, 300'000}), ElementsAre(11, 10, 10, 1));
}

TEST(Shares, DealEverySampleOnceWhateverTheTimes) {
  for (const std::vector<uint64_t>& times :
       {std::vector<uint64_t>{1, 1, 1}, {0, 5, 1'000'000'000}, {7, 11, 13, 17, 19}, {1}}) {
    const auto shares = shares_by_speed(32, times);
    int64_t end = 0;
    for (int rank = 0; rank < static_cast<int>(times.size()); ++rank) {
      const Share share = share_of(shares, rank);
      EXPECT_EQ(share.begin, end);
      EXPECT_GT(share.end, share.begin);
      EXPECT_EQ(share.stride, 1);
      end = share.end;
    }
    EXPECT_EQ(end, 32);
  }
}

TEST(Shares, TheSlowestIsNamedWithItsRatio) {
  const Straggler straggler = slowest({100, 250, 120});
  EXPECT_EQ(straggler.rank, 1);
  EXPECT_EQ(straggler.ratio, 2.5);
}

}  // namespace
}  // namespace trainer
