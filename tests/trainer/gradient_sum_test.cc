// GradientSum tests: sums without order, and the cut into buckets.
#include "workloads/trainer/gradient_sum.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "workloads/trainer/dataset.h"

namespace trainer {
namespace {

std::vector<double> some_gradient(uint64_t index) {
  std::vector<double> gradient(10);
  for (size_t i = 0; i < gradient.size(); ++i) gradient[i] = uniform(index, i);
  return gradient;
}

TEST(GradientSum, DoesNotDependOnTheOrderOfItsSamples) {
  GradientSum forward(10, 3, false);
  GradientSum backward(10, 1, false);
  for (int i = 0; i < 1000; ++i) forward.add(some_gradient(i), 0.1 * i);
  for (int i = 999; i >= 0; --i) backward.add(some_gradient(i), 0.1 * i);
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(forward.gradient(i), backward.gradient(i));
  EXPECT_EQ(forward.loss(), backward.loss());
}

TEST(GradientSum, StaysWithinHalfAGridStepASample) {
  GradientSum sum(10, 3, false);
  double exact = 0;
  for (int i = 0; i < 100; ++i) {
    sum.add(some_gradient(i), 0);
    exact += some_gradient(i)[4];
  }
  EXPECT_NEAR(sum.gradient(4), exact, 100 * 0x1p-21);
}

TEST(GradientSum, IsEmptyAfterClear) {
  GradientSum sum(10, 3, true);
  sum.add(some_gradient(1), 1);
  sum.clear();
  EXPECT_EQ(sum.gradient(0), 0);
  EXPECT_EQ(sum.loss(), 0);
}

class Buckets : public testing::TestWithParam<std::pair<size_t, int>> {};

TEST_P(Buckets, CoverEverythingOnceAndAreNeverEmpty) {
  const auto [total, count] = GetParam();
  const auto buckets = cut_into_buckets(total, count);
  size_t next = 0;
  for (const Bucket& bucket : buckets) {
    EXPECT_EQ(bucket.begin, next);
    EXPECT_GT(bucket.size, 0u);
    next += bucket.size;
  }
  EXPECT_EQ(next, total);
  EXPECT_EQ(buckets.size(), std::min<size_t>(total, count));
}

INSTANTIATE_TEST_SUITE_P(Sizes, Buckets,
                         testing::Values(std::pair{421ul, 1}, std::pair{421ul, 3}, std::pair{421ul, 40},
                                         std::pair{421ul, 421}, std::pair{3ul, 7}, std::pair{7ul, 6}));

TEST(Buckets, AreOfDifferentSizes) {
  const auto buckets = cut_into_buckets(421, 3);
  EXPECT_LT(buckets[0].size, buckets[1].size);
  EXPECT_LT(buckets[1].size, buckets[2].size);
}

}  // namespace
}  // namespace trainer
