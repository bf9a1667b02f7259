// mapped_memory.h: device memory in two parts, as CUDA's virtual memory management has it: a range of
// addresses, and memory that is mapped into it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda_double/core/errors.h"

namespace cuda_double {

// Sizes and addresses must be multiples of this.
constexpr std::size_t kMappedGranularity = 2ul << 20;

Error reserve_range(std::size_t bytes, void** out);
Error free_range(void* at, std::size_t bytes);

// The memory of a handle is freed when the handle is released and no part of it is mapped.
Error create_memory(std::size_t bytes, int device, std::uint64_t* handle);
Error release_memory(std::uint64_t handle);
Error map_memory(void* at, std::size_t bytes, std::size_t offset, std::uint64_t handle);
// Unmaps what one call of map_memory() mapped, or several that lie side by side.
Error unmap_memory(void* at, std::size_t bytes);

}  // namespace cuda_double
