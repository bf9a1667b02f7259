// memory_api.cc: the runtime's memory functions, over core/memory; copies and sets go through streams.
#include <cstring>
#include <string>

#include "cuda_double/core/memory.h"
#include "cuda_double/core/settings.h"
#include "cuda_double/cuda/api.h"

using namespace cuda_double;  // NOLINT: what follows stands outside of all namespaces

namespace {

cudaError_t do_quick(cudaStream_t handle, std::function<void()> work) {
  StreamPtr stream = stream_of(handle);
  if (!stream) return give(kInvalidHandle);
  Streams::all().enqueue(stream, {[work = std::move(work)] {
                                    work();
                                    return true;
                                  },
                                  {},
                                  true});
  return cudaSuccess;
}

// Allocates on the calling thread's device.
cudaError_t new_memory(void** out, size_t bytes, MemoryKind kind) {
  return give(allocate(bytes, kind, current_device(), out));
}

}  // namespace

GPULESS_API cudaMalloc(void** out, size_t bytes) { return new_memory(out, bytes, MemoryKind::device); }
GPULESS_API cudaMallocHost(void** out, size_t bytes) { return new_memory(out, bytes, MemoryKind::host); }
GPULESS_API cudaHostAlloc(void** out, size_t bytes, unsigned) {
  return new_memory(out, bytes, MemoryKind::host);
}
GPULESS_API cudaMallocAsync(void** out, size_t bytes, cudaStream_t) {
  return new_memory(out, bytes, MemoryKind::device);
}

// Waits for all work of the device, as CUDA's cudaFree does.
GPULESS_API cudaFree(void* at) {
  if (!at) return cudaSuccess;
  std::optional<Allocation> allocation = allocation_of(at);
  if (!allocation) return give(kInvalidValue);
  Streams::all().wait_for_device(allocation->device);
  return give(release(at));
}
GPULESS_API cudaFreeHost(void* at) { return give(release(at)); }
GPULESS_API cudaFreeAsync(void* at, cudaStream_t stream) {
  return do_quick(stream, [at] { release(at); });
}
GPULESS_API cudaHostRegister(void* at, size_t bytes, unsigned) {
  return give(register_range(at, bytes, MemoryKind::host, current_device()));
}
GPULESS_API cudaHostUnregister(void* at) { return give(release(at, false)); }
GPULESS_API cudaHostGetDevicePointer(void** out, void* at, unsigned) {
  *out = at;
  return cudaSuccess;
}

GPULESS_API cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  if (allocation_of(from)) {
    cudaError_t error = do_quick(stream, [=] { std::memcpy(to, from, bytes); });
    // A copy into pageable host memory is complete when the call returns.
    return error || allocation_of(to) ? error : cudaStreamSynchronize(stream);
  }
  // Pageable host memory has been read when the call returns.
  auto copy = std::make_shared<std::string>(static_cast<const char*>(from), bytes);
  return do_quick(stream, [=] { std::memcpy(to, copy->data(), copy->size()); });
}
GPULESS_API cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, nullptr);
  return error ? error : cudaStreamSynchronize(nullptr);
}
GPULESS_API cudaMemsetAsync(void* at, int value, size_t bytes, cudaStream_t stream) {
  return do_quick(stream, [=] { std::memset(at, value, bytes); });
}
GPULESS_API cudaMemset(void* at, int value, size_t bytes) {
  cudaError_t error = cudaMemsetAsync(at, value, bytes, nullptr);
  return error ? error : cudaStreamSynchronize(nullptr);
}
GPULESS_API cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
GPULESS_API cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind, cudaStream_t stream) {
  return do_quick(stream, [=] {
    for (size_t row = 0; row < height; ++row) {
      std::memcpy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch,
                  width);
    }
  });
}

GPULESS_API cudaMemGetInfo(size_t* free, size_t* total) {
  *free = free_bytes(current_device());
  *total = settings().memory;
  return cudaSuccess;
}
GPULESS_API cudaPointerGetAttributes(cudaPointerAttributes* out, const void* at) {
  std::memset(out, 0, sizeof *out);
  std::optional<Allocation> allocation = allocation_of(at);
  if (!allocation) return cudaSuccess;  // type 0: memory that CUDA does not know
  out->type = static_cast<cudaMemoryType>(allocation->kind);
  out->device = allocation->device;
  out->devicePointer = const_cast<void*>(at);
  if (allocation->kind == MemoryKind::host) out->hostPointer = const_cast<void*>(at);
  return cudaSuccess;
}

// A symbol is known by its shadow in the host program, which has its size; the double keeps its value there.
GPULESS_API cudaGetSymbolAddress(void** out, const void* symbol) {
  *out = const_cast<void*>(symbol);
  return cudaSuccess;
}
GPULESS_API cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset,
                               cudaMemcpyKind kind) {
  return cudaMemcpy(static_cast<char*>(const_cast<void*>(symbol)) + offset, from, bytes, kind);
}
