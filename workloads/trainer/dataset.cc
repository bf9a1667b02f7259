// Dataset: labels come from a fixed random linear teacher, so that there is something to learn.
#include "workloads/trainer/dataset.h"

namespace trainer {

namespace {

// The finaliser of splitmix64 (Steele, Lea, Flood 2014).
uint64_t mix(uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

constexpr uint64_t kTeacher = 0x7eac4e5;

}  // namespace

double uniform(uint64_t seed, uint64_t index) {
  const uint64_t bits = mix(mix(seed) + (index + 1) * 0x9e3779b97f4a7c15u);
  return static_cast<double>(bits >> 11) * 0x1p-52 - 1.0;
}

Dataset::Dataset(uint64_t seed) : seed_(seed) {
  uint64_t index = 0;
  for (auto& row : teacher_) {
    for (double& weight : row) weight = uniform(seed ^ kTeacher, index++);
  }
}

Sample Dataset::sample(int64_t index) const {
  Sample sample{};
  const auto first = static_cast<uint64_t>(index) * kFeatures;
  for (int i = 0; i < kFeatures; ++i) sample.features[i] = uniform(seed_, first + i);
  double best = -1e300;
  for (int label = 0; label < kClasses; ++label) {
    double score = 0;
    for (int i = 0; i < kFeatures; ++i) score += teacher_[label][i] * sample.features[i];
    if (score > best) {
      best = score;
      sample.label = label;
    }
  }
  return sample;
}

}  // namespace trainer
