// chunked_sum: a large sum as several of bounded size, each with a limit of its own.
//
// Smaller pieces bound the memory of one call, and how long nothing is heard of it. What a limit of minutes
// is to a sum of half a billion numbers, one of seconds is to each chunk. Integer sums are the same bits
// however they are cut; float sums are not, as a number's place in its call decides in which order the ranks'
// parts are added.
//
// The sum is made in place. When a chunk fails those before it are summed and those after it are not: the
// error goes up to the step, which nobody commits.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace trainer {

class WorldSum;

// In units of 100 million elements: less than one goes directly, up to five units 2 to 5 chunks, more than
// that 10 to 20. Another unit scales all of it.
inline constexpr size_t kChunkUnit = 100'000'000;
size_t chunks_of(size_t count, size_t unit = kChunkUnit);

struct Chunk {
  size_t begin, size;
};
// As equal as can be, none empty.
std::vector<Chunk> cut_into_chunks(size_t count, size_t unit = kChunkUnit);

std::unique_ptr<WorldSum> chunked_sum(std::unique_ptr<WorldSum> inner, size_t unit = kChunkUnit);

}  // namespace trainer
