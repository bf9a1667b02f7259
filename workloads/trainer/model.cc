// Model: the forward and the backward pass. Nothing here depends on the number of ranks.
#include "workloads/trainer/model.h"

#include <cmath>

#include "workloads/trainer/hash.h"

namespace trainer {

namespace {

constexpr uint64_t kInitial = 0x1417;

// bias + sum of weights * inputs, for a row of [bias, weights...]
double weighted_sum(const double* row, const double* inputs, int count) {
  double sum = row[0];
  for (int i = 0; i < count; ++i) sum += row[i + 1] * inputs[i];
  return sum;
}

}  // namespace

Model::Model(int hidden, uint64_t seed) : hidden_(hidden) {
  weights_.resize(output_row(kClasses));
  for (size_t i = 0; i < weights_.size(); ++i) {
    const double width = i < input_row(hidden_) ? kFeatures : hidden_;
    weights_[i] = uniform(seed ^ kInitial, i) / std::sqrt(width);
  }
}

Model::Activations Model::forward(const Sample& sample) const {
  Activations result{std::vector<double>(hidden_), {}};
  for (int unit = 0; unit < hidden_; ++unit) {
    result.hidden[unit] =
        std::tanh(weighted_sum(&weights_[input_row(unit)], sample.features.data(), kFeatures));
  }
  double largest = -1e300;
  for (int label = 0; label < kClasses; ++label) {
    result.probability[label] = weighted_sum(&weights_[output_row(label)], result.hidden.data(), hidden_);
    largest = std::max(largest, result.probability[label]);
  }
  double total = 0;
  for (double& score : result.probability) total += score = std::exp(score - largest);
  for (double& score : result.probability) score /= total;
  return result;
}

double Model::loss(const Sample& sample) const {
  return -std::log(forward(sample).probability[sample.label]);
}

double Model::loss_and_gradient(const Sample& sample, std::span<double> gradient) const {
  const Activations at = forward(sample);
  std::vector<double> hidden_error(hidden_, 0.0);
  for (int label = 0; label < kClasses; ++label) {
    const double error = at.probability[label] - (label == sample.label ? 1.0 : 0.0);
    const size_t row = output_row(label);
    gradient[row] = error;
    for (int unit = 0; unit < hidden_; ++unit) {
      gradient[row + 1 + unit] = error * at.hidden[unit];
      hidden_error[unit] += error * weights_[row + 1 + unit];
    }
  }
  for (int unit = 0; unit < hidden_; ++unit) {
    const double error = hidden_error[unit] * (1.0 - at.hidden[unit] * at.hidden[unit]);
    const size_t row = input_row(unit);
    gradient[row] = error;
    for (int i = 0; i < kFeatures; ++i) gradient[row + 1 + i] = error * sample.features[i];
  }
  return -std::log(at.probability[sample.label]);
}

uint64_t Model::checksum() const { return hash_bytes(weights_.data(), weights_.size() * sizeof(double)); }

}  // namespace trainer
