// GradientSum: sums a step's gradients over samples and ranks.
//
// Unless `as_floats` is set, it rounds each sample's gradient to a grid of 2^-20 and adds it as an integer.
// Integer sums do not depend on the order, so the total is the same for any world size, bucket count or
// algorithm. The loss is one more number after the gradients.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace trainer {

class SequenceCheck;
class WorldSum;

struct Bucket {
  size_t begin;
  size_t size;
};

// Cuts `total` numbers into `buckets` pieces of growing size (1 : 2 : 3 ...), none of them empty.
std::vector<Bucket> cut_into_buckets(size_t total, int buckets);

class GradientSum {
 public:
  GradientSum(size_t weights, int buckets, bool as_floats);

  void clear();
  void add(std::span<const double> gradient, double loss);

  // Sums every bucket over all ranks, and notes each result in `check`.
  void all_reduce(WorldSum& world, SequenceCheck& check, int64_t step);

  // Of the whole batch, after all_reduce().
  double gradient(size_t weight) const { return value(weight); }
  double loss() const { return value(buckets_.back().begin + buckets_.back().size - 1); }

 private:
  void add_one(size_t index, double number);
  double value(size_t index) const;

  std::vector<Bucket> buckets_;
  bool as_floats_;
  std::vector<int64_t> grid_sums_;
  std::vector<float> float_sums_;
};

}  // namespace trainer
