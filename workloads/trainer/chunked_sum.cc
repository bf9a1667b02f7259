// chunked_sum: the number of chunks, and one sum for each.
#include "workloads/trainer/chunked_sum.h"

#include <algorithm>

#include "workloads/trainer/world_sum.h"

namespace trainer {

namespace {

size_t divided_up(size_t count, size_t by) { return (count + by - 1) / by; }

class ChunkedSum : public WorldSum {
 public:
  ChunkedSum(std::unique_ptr<WorldSum> inner, size_t unit) : inner_(std::move(inner)), unit_(unit) {}

  void sum(int64_t* numbers, size_t count) override { sum_each(numbers, count); }
  void sum(float* numbers, size_t count) override { sum_each(numbers, count); }

 private:
  template <typename T>
  void sum_each(T* numbers, size_t count) {
    for (const Chunk& chunk : cut_into_chunks(count, unit_)) inner_->sum(numbers + chunk.begin, chunk.size);
  }

  std::unique_ptr<WorldSum> inner_;
  size_t unit_;
};

}  // namespace

size_t chunks_of(size_t count, size_t unit) {
  if (count < unit) return 1;
  if (count <= 5 * unit) return std::min(count, std::clamp<size_t>(divided_up(count, unit), 2, 5));
  return std::min(count, std::clamp<size_t>(divided_up(2 * count, unit), 10, 20));
}

std::vector<Chunk> cut_into_chunks(size_t count, size_t unit) {
  const size_t chunks = chunks_of(count, unit), least = count / chunks, longer = count % chunks;
  std::vector<Chunk> cut;
  size_t begin = 0;
  for (size_t i = 0; i < chunks; ++i) {
    const size_t size = least + (i < longer ? 1 : 0);
    cut.push_back({begin, size});
    begin += size;
  }
  return cut;
}

std::unique_ptr<WorldSum> chunked_sum(std::unique_ptr<WorldSum> inner, size_t unit) {
  return std::make_unique<ChunkedSum>(std::move(inner), unit);
}

}  // namespace trainer
