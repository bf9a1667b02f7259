// Model tests: compare the gradient with finite differences, weight by weight.
#include "workloads/trainer/model.h"

#include <gtest/gtest.h>

#include <cmath>

namespace trainer {
namespace {

constexpr int kHidden = 5;

double central_difference(Model model, const Sample& sample, size_t weight) {
  constexpr double kStep = 1e-6;
  const double kept = model.weights()[weight];
  model.weights()[weight] = kept + kStep;
  const double above = model.loss(sample);
  model.weights()[weight] = kept - kStep;
  const double below = model.loss(sample);
  return (above - below) / (2 * kStep);
}

TEST(Model, GradientOfEveryWeightEqualsTheFiniteDifference) {
  const Model model(kHidden, 7);
  const Dataset dataset(7);
  std::vector<double> gradient(model.weights().size());
  for (int64_t index = 0; index < 20; ++index) {
    const Sample sample = dataset.sample(index);
    const double loss = model.loss_and_gradient(sample, gradient);
    EXPECT_DOUBLE_EQ(loss, model.loss(sample));
    for (size_t weight = 0; weight < gradient.size(); ++weight) {
      EXPECT_NEAR(gradient[weight], central_difference(model, sample, weight), 1e-7) << "weight " << weight;
    }
  }
}

TEST(Model, GradientIsNotZeroEverywhere) {
  const Model model(kHidden, 7);
  std::vector<double> gradient(model.weights().size());
  model.loss_and_gradient(Dataset(7).sample(0), gradient);
  double largest = 0;
  for (double g : gradient) largest = std::max(largest, std::abs(g));
  EXPECT_GT(largest, 0.1);
}

TEST(Model, ChecksumChangesWithOneBitOfOneWeight) {
  Model model(kHidden, 7);
  const uint64_t before = model.checksum();
  model.weights()[3] = std::nextafter(model.weights()[3], 1.0);
  EXPECT_NE(model.checksum(), before);
}

TEST(Dataset, SamplesDependOnSeedAndIndexOnly) {
  const Sample one = Dataset(1).sample(40);
  EXPECT_EQ(one.features, Dataset(1).sample(40).features);
  EXPECT_NE(one.features, Dataset(2).sample(40).features);
  EXPECT_NE(one.features, Dataset(1).sample(41).features);
}

TEST(Dataset, EveryClassOccurs) {
  const Dataset dataset(1);
  std::array<int, kClasses> seen{};
  for (int64_t index = 0; index < 400; ++index) ++seen[dataset.sample(index).label];
  for (int count : seen) EXPECT_GT(count, 10);
}

}  // namespace
}  // namespace trainer
