// shares: how ranks of different speed share the global batch.
//
// Each rank times a sample, and the ranks gather the times. Each rank gets a share in proportion to its
// speed. Sums are order-free, so the weights have the same bits as with equal shares.
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

// The samples of `rank`: every `world_size`th one.
Share equal_share(int64_t batch, int rank, int world_size);

// Shares in proportion to 1 / time, at least one sample each, and `batch` in total. Every rank with the same
// times computes the same shares. `batch` must not be smaller than the number of ranks.
std::vector<int64_t> shares_by_speed(int64_t batch, const std::vector<uint64_t>& ns_per_sample);
Share share_of(const std::vector<int64_t>& shares, int rank);

struct Straggler {
  int rank;
  double ratio;  // its time for a sample, divided by that of the fastest rank
};
Straggler slowest(const std::vector<uint64_t>& ns_per_sample);

}  // namespace trainer
