// MicroBatches: a rank's share of a batch, in pieces that fit its memory. If a piece does not fit, the rank
// halves it and accumulates the gradients over twice the number of pieces. The batch stays the same, and so
// do the bits, because sums are order-free. The other ranks do not notice: they wait for the same sum.
#pragma once

#include <cstddef>
#include <functional>

namespace trainer {

class MicroBatches {
 public:
  // `size`: samples at a time; 0: the whole share at once. Without `halve`, the first failure is thrown.
  explicit MicroBatches(size_t size, bool halve = true) : size_(size), halve_(halve) {}

  // Calls work(first, count) for consecutive pieces of `samples`. If a piece ends in std::bad_alloc, this
  // piece and all later ones are halved. If the piece is a single sample, the exception is thrown. `work`
  // must have no effect when it throws.
  void each(size_t samples, const std::function<void(size_t first, size_t count)>& work);

  size_t size() const { return size_; }
  int halvings() const { return halvings_; }

 private:
  size_t size_;
  bool halve_;
  int halvings_ = 0;
};

}  // namespace trainer
