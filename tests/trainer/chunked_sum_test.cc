// chunked_sum tests: the number of chunks, equal bits for integers, a bounded difference for floats.
#include "workloads/trainer/chunked_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "workloads/trainer/collectives.h"
#include "workloads/trainer/dataset.h"
#include "workloads/trainer/world_sum.h"

namespace trainer {
namespace {

TEST(ChunkedSum, TheNumberOfChunksFollowsTheSize) {
  constexpr size_t kMillion = 1'000'000;
  EXPECT_EQ(chunks_of(0), 1u);
  EXPECT_EQ(chunks_of(100 * kMillion - 1), 1u);
  EXPECT_EQ(chunks_of(100 * kMillion), 2u);
  EXPECT_EQ(chunks_of(201 * kMillion), 3u);
  EXPECT_EQ(chunks_of(467'019'003), 5u);
  EXPECT_EQ(chunks_of(500 * kMillion), 5u);
  EXPECT_EQ(chunks_of(501 * kMillion), 11u);
  EXPECT_EQ(chunks_of(5000 * kMillion), 20u);
  EXPECT_EQ(chunks_of(837, 200), 5u);
  EXPECT_EQ(chunks_of(3, 1), 3u);
}

TEST(ChunkedSum, ChunksCoverAllNumbersOnceAndAreNearlyEqual) {
  for (const size_t count : {1, 2, 99, 100, 837, 5000, 12345}) {
    const auto chunks = cut_into_chunks(count, 100);
    size_t end = 0;
    for (const Chunk& chunk : chunks) {
      EXPECT_EQ(chunk.begin, end);
      EXPECT_TRUE(chunk.size == count / chunks.size() || chunk.size == count / chunks.size() + 1);
      EXPECT_GE(chunk.size, 1u);
      end += chunk.size;
    }
    EXPECT_EQ(end, count);
  }
}

// The numbers of all ranks in one place, summed as ring algorithms do: the block of an element within the
// call decides at which rank its sum begins.
class RingOrder : public WorldSum {
 public:
  explicit RingOrder(int ranks) : ranks_(ranks) {}

  void sum(int64_t* numbers, size_t count) override { add(numbers, count, &integers); }
  void sum(float* numbers, size_t count) override { add(numbers, count, &floats); }

  std::vector<std::vector<int64_t>> integers;
  std::vector<std::vector<float>> floats;
  std::vector<size_t> calls;
  size_t fails_at = SIZE_MAX;

 private:
  template <typename T>
  void add(T* numbers, size_t count, std::vector<std::vector<T>>* all) {
    if (calls.size() == fails_at) throw CollectiveError("peer_lost", "gone");
    const size_t offset = std::accumulate(calls.begin(), calls.end(), size_t{0});
    calls.push_back(count);
    for (size_t i = 0; i < count; ++i) {
      const size_t block = i * ranks_ / count;
      T total = 0;
      for (size_t r = 0; r < ranks_; ++r) total += (*all)[(block + r) % ranks_][offset + i];
      numbers[i] = total;
    }
  }
  size_t ranks_;
};

constexpr size_t kCount = 1000;
constexpr int kRanks = 4;

TEST(ChunkedSum, IntegerSumsAreTheSameBits) {
  const auto sum = [](size_t unit) {
    auto ring = std::make_unique<RingOrder>(kRanks);
    for (uint64_t r = 0; r < kRanks; ++r) {
      ring->integers.emplace_back();
      for (size_t i = 0; i < kCount; ++i)
        ring->integers.back().push_back(std::llrint(uniform(r, i) * 0x1p40));
    }
    std::vector<int64_t> numbers = ring->integers[0];
    chunked_sum(std::move(ring), unit)->sum(numbers.data(), numbers.size());
    return numbers;
  };
  EXPECT_EQ(sum(kCount + 1), sum(100));
}

TEST(ChunkedSum, FloatSumsDifferWithinTheirRounding) {
  std::vector<std::vector<float>> parts;
  for (uint64_t r = 0; r < kRanks; ++r) {
    parts.emplace_back();
    for (size_t i = 0; i < kCount; ++i) parts.back().push_back(static_cast<float>(uniform(r, i)));
  }
  const auto sum = [&](size_t unit) {
    auto ring = std::make_unique<RingOrder>(kRanks);
    ring->floats = parts;
    std::vector<float> numbers = parts[0];
    chunked_sum(std::move(ring), unit)->sum(numbers.data(), numbers.size());
    return numbers;
  };
  const auto whole = sum(kCount + 1), chunked = sum(100);
  size_t differing = 0;
  for (size_t i = 0; i < kCount; ++i) {
    double size = 0;
    for (const auto& part : parts) size += std::fabs(part[i]);
    differing += whole[i] != chunked[i];
    // Each of the two is within (ranks - 1) roundings of the true sum.
    EXPECT_LE(std::fabs(whole[i] - chunked[i]), 2 * (kRanks - 1) * 0x1p-24 * size) << i;
  }
  EXPECT_GT(differing, 0u);
}

TEST(ChunkedSum, AFailedChunkLeavesTheRestUnsummedAndIsAnError) {
  auto ring = std::make_unique<RingOrder>(1);
  ring->integers = {std::vector<int64_t>(kCount, 7)};
  ring->fails_at = 3;
  std::vector<int64_t> numbers(kCount, 1);
  EXPECT_THROW(chunked_sum(std::move(ring), 250)->sum(numbers.data(), kCount), CollectiveError);
  EXPECT_EQ(numbers.front(), 7);
  EXPECT_EQ(numbers.back(), 1);
}

}  // namespace
}  // namespace trainer
