// MicroBatches: a rank's share of a batch in pieces that fit its memory. When a piece does not fit, it is
// halved and gradients are accumulated over twice as many: the effective batch stays what it was, and as sums
// are order-free, so do the bits. That is one rank's own affair: its peers wait for the same sum.
#pragma once

#include <cstddef>
#include <functional>

namespace trainer {

class MicroBatches {
 public:
  // `size` samples at a time; 0: the whole share at once. Without `halve` the first failure is thrown on.
  explicit MicroBatches(size_t size, bool halve = true) : size_(size), halve_(halve) {}

  // Calls work(first, count) for consecutive pieces of `samples`. A piece that ends in std::bad_alloc is made
  // again in halves, and so are all later ones; a single sample that does not fit is thrown on. `work` must
  // have no effect when it throws.
  void each(size_t samples, const std::function<void(size_t first, size_t count)>& work);

  size_t size() const { return size_; }
  int halvings() const { return halvings_; }

 private:
  size_t size_;
  bool halve_;
  int halvings_ = 0;
};

}  // namespace trainer
