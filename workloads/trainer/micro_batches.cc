// MicroBatches: halving on std::bad_alloc.
#include "workloads/trainer/micro_batches.h"

#include <algorithm>
#include <new>

namespace trainer {

void MicroBatches::each(size_t samples, const std::function<void(size_t, size_t)>& work) {
  for (size_t done = 0; done < samples;) {
    const size_t left = samples - done;
    const size_t count = size_ == 0 ? left : std::min(size_, left);
    try {
      work(done, count);
      done += count;
    } catch (const std::bad_alloc&) {
      if (count == 1 || !halve_) throw;
      size_ = count / 2;
      ++halvings_;
    }
  }
}

}  // namespace trainer
