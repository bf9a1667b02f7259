// GradientSum: rounding to the grid, the buckets, and their all-reduce.
#include "workloads/trainer/gradient_sum.h"

#include <algorithm>
#include <cmath>

#include "workloads/trainer/sequence_check.h"
#include "workloads/trainer/world_sum.h"

namespace trainer {

namespace {
constexpr double kGrid = 0x1p20;
}  // namespace

std::vector<Bucket> cut_into_buckets(size_t total, int buckets) {
  const size_t count = std::clamp<size_t>(buckets, 1, total);
  const size_t shares = count * (count + 1) / 2;
  std::vector<Bucket> result;
  size_t begin = 0;
  for (size_t i = 0; i < count; ++i) {
    const size_t left_for_others = count - i - 1;
    size_t size = std::max<size_t>(1, total * (i + 1) / shares);
    size = i + 1 == count ? total - begin : std::min(size, total - begin - left_for_others);
    result.push_back({begin, size});
    begin += size;
  }
  return result;
}

GradientSum::GradientSum(size_t weights, int buckets, bool as_floats)
    : buckets_(cut_into_buckets(weights + 1, buckets)), as_floats_(as_floats) {
  if (as_floats_) {
    float_sums_.resize(weights + 1);
  } else {
    grid_sums_.resize(weights + 1);
  }
}

void GradientSum::clear() {
  std::fill(grid_sums_.begin(), grid_sums_.end(), 0);
  std::fill(float_sums_.begin(), float_sums_.end(), 0.0f);
}

void GradientSum::add(std::span<const double> gradient, double loss) {
  for (size_t i = 0; i < gradient.size(); ++i) add_one(i, gradient[i]);
  add_one(gradient.size(), loss);
}

void GradientSum::add_one(size_t index, double number) {
  if (as_floats_) {
    float_sums_[index] += static_cast<float>(number);
  } else {
    grid_sums_[index] += std::llrint(number * kGrid);
  }
}

double GradientSum::value(size_t index) const {
  return as_floats_ ? float_sums_[index] : static_cast<double>(grid_sums_[index]) / kGrid;
}

void GradientSum::all_reduce(WorldSum& world, SequenceCheck& check, int64_t step) {
  for (size_t i = 0; i < buckets_.size(); ++i) {
    const auto [begin, size] = buckets_[i];
    if (as_floats_) {
      world.sum(&float_sums_[begin], size);
      check.note("all_reduce", i, step, &float_sums_[begin], size * sizeof(float));
    } else {
      world.sum(&grid_sums_[begin], size);
      check.note("all_reduce", i, step, &grid_sums_[begin], size * sizeof(int64_t));
    }
  }
}

}  // namespace trainer
