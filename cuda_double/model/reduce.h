// reduce.h: NCCL's element types and reductions, computed on the host.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cuda_double {

// The numbers of ncclDataType_t.
enum class Type : std::uint32_t {
  int8 = 0,
  uint8,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  float32,
  float64,
  bfloat16,
  float8e4m3,
  float8e5m2,
};
constexpr std::uint32_t kTypes = 12;
std::size_t bytes_of(Type type);

// The numbers of ncclRedOp_t. A custom reduction multiplies each rank's data by that rank's factor, then
// sums.
enum class Reduction : std::uint32_t { sum = 0, product, max, min, average, scaled_sum };

// Reduces into `total`, which holds the result of the previous ranks: element by element, rounded after each
// step.
void reduce_into(void* total, const void* next, std::size_t count, Type type, Reduction reduction);

// Prepares a rank's data before the sum: average multiplies by 1 / ranks if the type is a float, scaled_sum
// by *factor.
void prepare(void* values, std::size_t count, Type type, Reduction reduction, const void* factor, int ranks);

// Finishes the sum after all ranks: average of integers divides.
void finish(void* total, std::size_t count, Type type, Reduction reduction, int ranks);

}  // namespace cuda_double
