// shares: how the global batch is dealt to ranks that are not equally fast.
//
// Each rank times a sample; the times are gathered, and the batch is dealt in proportion to speed. Sums have
// no order, so the weights are the same bits as with equal shares.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainer {

// The samples begin, begin + stride ... below end of a step's batch.
struct Share {
  int64_t begin, end, stride;
  size_t size() const { return begin < end ? static_cast<size_t>((end - begin + stride - 1) / stride) : 0; }
};

// Every world-size'th sample.
Share equal_share(int64_t batch, int rank, int world_size);

// In proportion to 1 / time, at least one sample each, and `batch` in all: the same on every rank that has
// the same times. `batch` must be at least as many as there are ranks.
std::vector<int64_t> shares_by_speed(int64_t batch, const std::vector<uint64_t>& ns_per_sample);
Share share_of(const std::vector<int64_t>& shares, int rank);

struct Straggler {
  int rank;
  double ratio;  // its time a sample to that of the fastest
};
Straggler slowest(const std::vector<uint64_t>& ns_per_sample);

}  // namespace trainer
