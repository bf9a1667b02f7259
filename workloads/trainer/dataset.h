// Dataset: a synthetic classification set, made from a seed, addressed by global sample index.
#pragma once

#include <array>
#include <cstdint>

namespace trainer {

inline constexpr int kFeatures = 8;
inline constexpr int kClasses = 4;

struct Sample {
  std::array<double, kFeatures> features;
  int label;
};

class Dataset {
 public:
  explicit Dataset(uint64_t seed);

  // Returns the same sample for the same index on every rank.
  Sample sample(int64_t index) const;

 private:
  uint64_t seed_;
  std::array<std::array<double, kFeatures>, kClasses> teacher_;
};

// A number in [-1, 1) that depends only on the seed and the index.
double uniform(uint64_t seed, uint64_t index);

}  // namespace trainer
