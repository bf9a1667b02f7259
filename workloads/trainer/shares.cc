// shares: rounds by the largest remainders.
#include "workloads/trainer/shares.h"

#include <algorithm>
#include <numeric>

namespace trainer {

Share equal_share(int64_t batch, int rank, int world_size) { return {rank, batch, world_size}; }

std::vector<int64_t> shares_by_speed(int64_t batch, const std::vector<uint64_t>& ns_per_sample) {
  const size_t ranks = ns_per_sample.size();
  std::vector<double> speed;
  speed.reserve(ranks);
  for (const uint64_t time : ns_per_sample)
    speed.push_back(1.0 / static_cast<double>(std::max<uint64_t>(1, time)));
  const double all = std::accumulate(speed.begin(), speed.end(), 0.0);
  const int64_t to_deal = batch - static_cast<int64_t>(ranks);  // each rank has one already
  std::vector<int64_t> shares;
  std::vector<std::pair<double, size_t>> remainders;  // negative, so that the largest comes first
  int64_t dealt = 0;
  for (size_t rank = 0; rank < ranks; ++rank) {
    const double exact = static_cast<double>(to_deal) * speed[rank] / all;
    const auto whole = static_cast<int64_t>(exact);
    shares.push_back(1 + whole);
    dealt += whole;
    remainders.emplace_back(static_cast<double>(whole) - exact, rank);
  }
  std::sort(remainders.begin(), remainders.end());
  for (size_t i = 0; dealt < to_deal; ++dealt, ++i) ++shares[remainders[i % ranks].second];
  return shares;
}

Share share_of(const std::vector<int64_t>& shares, int rank) {
  const int64_t begin = std::accumulate(shares.begin(), shares.begin() + rank, int64_t{0});
  return {begin, begin + shares[static_cast<size_t>(rank)], 1};
}

Straggler slowest(const std::vector<uint64_t>& ns_per_sample) {
  const auto [fast, slow] = std::minmax_element(ns_per_sample.begin(), ns_per_sample.end());
  return {static_cast<int>(slow - ns_per_sample.begin()),
          static_cast<double>(*slow) / static_cast<double>(std::max<uint64_t>(1, *fast))};
}

}  // namespace trainer
