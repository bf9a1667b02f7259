// Model: a network of two layers (tanh, then softmax with cross entropy), and its exact gradient.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/trainer/dataset.h"

namespace trainer {

class Model {
 public:
  Model(int hidden, uint64_t seed);

  std::vector<double>& weights() { return weights_; }
  const std::vector<double>& weights() const { return weights_; }

  double loss(const Sample& sample) const;

  // Writes the gradient of the sample's loss into `gradient` (one number a weight); returns the loss.
  double loss_and_gradient(const Sample& sample, std::span<double> gradient) const;

  // A hash of all bits of the weights.
  uint64_t checksum() const;

 private:
  struct Activations {
    std::vector<double> hidden;
    std::array<double, kClasses> probability;
  };
  Activations forward(const Sample& sample) const;

  // Where each layer's numbers begin in weights_.
  size_t input_row(int unit) const { return static_cast<size_t>(unit) * (kFeatures + 1); }
  size_t output_row(int label) const {
    return input_row(hidden_) + static_cast<size_t>(label) * (hidden_ + 1);
  }

  int hidden_;
  std::vector<double> weights_;  // rows of [bias, weights...]: first layer, then second
};

}  // namespace trainer
