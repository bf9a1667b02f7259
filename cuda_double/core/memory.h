// memory.h: device memory, which is host memory, and how much each device has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "cuda_double/core/errors.h"

namespace cuda_double {

// The numbers are those of cudaMemoryType.
enum class MemoryKind { host = 1, device = 2 };

struct Allocation {
  std::uintptr_t base = 0;
  std::size_t bytes = 0;
  MemoryKind kind = MemoryKind::device;
  int device = 0;
  bool ours = true;  // mapped by the double; else registered by the program
};

Error allocate(std::size_t bytes, MemoryKind kind, int device, void** out);
// Memory that the double did not allocate.
Error register_range(void* at, std::size_t bytes, MemoryKind kind, int device);
// Counts memory of a device that is mapped later (mapped_memory.h).
Error take(std::size_t bytes, int device);
void give_back(std::size_t bytes, int device);
Error release(void* at, bool ours = true);
std::optional<Allocation> allocation_of(const void* at);
std::size_t free_bytes(int device);

// The calling thread's device.
int current_device();
Error set_current_device(int device);

}  // namespace cuda_double
