// chunked_sum: cuts a large sum into several sums of bounded size, each with its own limit.
//
// Chunks bound the memory and the duration of one call. If a sum of half a billion numbers needs a limit of
// minutes, each chunk needs one of seconds. Integer sums have the same bits for any chunks. Float sums do
// not: the place of a number in its call decides in which order the ranks' values are added.
//
// The sum is made in place. If a chunk fails, the chunks before it are summed and those after it are not. The
// error passes to the step, and no rank commits it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace trainer {

class WorldSum;

// The number of chunks: below one unit (100 million elements) 1, up to five units 2 to 5, above 10 to 20.
// Another unit scales these sizes.
inline constexpr size_t kChunkUnit = 100'000'000;
size_t chunks_of(size_t count, size_t unit = kChunkUnit);

struct Chunk {
  size_t begin, size;
};
// The sizes differ by at most 1. No chunk is empty unless `count` is 0.
std::vector<Chunk> cut_into_chunks(size_t count, size_t unit = kChunkUnit);

std::unique_ptr<WorldSum> chunked_sum(std::unique_ptr<WorldSum> inner, size_t unit = kChunkUnit);

}  // namespace trainer
