// Tests of the double's arithmetic: small floats round by IEEE 754, and reductions wrap, round and divide.
#include "cuda_double/model/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "cuda_double/model/small_float.h"

namespace cuda_double {
namespace {

TEST(SmallFloat, HasThePublishedBits) {
  EXPECT_EQ(Float16::of(1.0f).bits, 0x3c00);
  EXPECT_EQ(Float16::of(-2.0f).bits, 0xc000);
  EXPECT_EQ(Float16::of(65504.0f).bits, 0x7bff) << "the largest";
  EXPECT_EQ(Float16::of(65520.0f).bits, 0x7c00) << "rounds to infinity";
  EXPECT_EQ(Float16::of(0x1p-24f).bits, 0x0001) << "the smallest";
  EXPECT_EQ(Float16::of(0x1p-25f).bits, 0x0000) << "a tie goes to even";
  EXPECT_EQ(BFloat16::of(1.0f).bits, 0x3f80);
  EXPECT_EQ(BFloat16::of(0x1.01p0f).bits, 0x3f80) << "a tie goes to even";
  EXPECT_EQ(BFloat16::of(0x1.03p0f).bits, 0x3f82);
  EXPECT_EQ(Float8E4M3::of(448.0f).bits, 0x7e);
  EXPECT_EQ(Float8E4M3::of(1e6f).bits, 0x7e) << "saturates: there is no infinity";
  EXPECT_EQ(Float8E4M3::of(NAN).bits, 0x7f);
  EXPECT_EQ(Float8E5M2::of(57344.0f).bits, 0x7b);
  EXPECT_EQ(Float8E5M2::of(INFINITY).bits, 0x7c);
}

template <class T>
void every_value_survives(int bits) {
  for (int i = 0; i < 1 << bits; ++i) {
    T x{};
    x.bits = static_cast<decltype(x.bits)>(i);
    if (std::isnan(x.value())) {
      EXPECT_TRUE(std::isnan(T::of(x.value()).value())) << i;
    } else {
      EXPECT_EQ(T::of(x.value()).bits, x.bits) << i;
    }
  }
}
TEST(SmallFloat, EveryValueSurvives) {
  every_value_survives<Float16>(16);
  every_value_survives<BFloat16>(16);
  every_value_survives<Float8E4M3>(8);
  every_value_survives<Float8E5M2>(8);
}

TEST(Reduce, WholeNumbersWrapAndAveragesDivide) {
  std::int8_t total[] = {100, -7}, next[] = {100, 2};
  reduce_into(total, next, 2, Type::int8, Reduction::sum);
  EXPECT_EQ(total[0], -56);
  EXPECT_EQ(total[1], -5);
  std::int64_t average[] = {7, -7};
  prepare(average, 2, Type::int64, Reduction::average, nullptr, 2);
  finish(average, 2, Type::int64, Reduction::average, 2);
  EXPECT_EQ(average[0], 3);
  EXPECT_EQ(average[1], -3);
}

TEST(Reduce, FloatAveragesAreScaledBeforeTheSum) {
  double values[] = {3.0};
  prepare(values, 1, Type::float64, Reduction::average, nullptr, 3);
  EXPECT_EQ(values[0], 3.0 * (1.0 / 3));
  finish(values, 1, Type::float64, Reduction::average, 3);
  EXPECT_EQ(values[0], 3.0 * (1.0 / 3));
}

TEST(Reduce, KnowsTheWidthOfEveryType) {
  const std::size_t widths[kTypes] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  for (std::uint32_t i = 0; i < kTypes; ++i) EXPECT_EQ(bytes_of(static_cast<Type>(i)), widths[i]);
}

}  // namespace
}  // namespace cuda_double
