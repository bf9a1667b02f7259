// memory_pools.cc: pools of device memory. A pool is the memory of its device and retains nothing.
#include <cstring>

#include "cuda_double/core/memory.h"
#include "cuda_double/cuda/api.h"

using namespace cuda_double;  // NOLINT: what follows stands outside of all namespaces

namespace {
// A handle is the device's number plus 1.
cudaMemPool_t pool_of(int device) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a handle, never followed
  return reinterpret_cast<cudaMemPool_t>(static_cast<std::uintptr_t>(device) + 1);
}
int device_of(cudaMemPool_t pool) { return static_cast<int>(reinterpret_cast<std::uintptr_t>(pool)) - 1; }
}  // namespace

GPULESS_API cudaMemPoolCreate(cudaMemPool_t* out, const cudaMemPoolProps* properties) {
  *out = pool_of(properties->location.id);
  return cudaSuccess;
}
GPULESS_API cudaDeviceGetDefaultMemPool(cudaMemPool_t* out, int device) {
  *out = pool_of(device);
  return cudaSuccess;
}
GPULESS_API cudaMemPoolDestroy(cudaMemPool_t) { return cudaSuccess; }
GPULESS_API cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
GPULESS_API cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr attribute, void* value) {
  std::memset(value, 0, attribute < cudaMemPoolAttrReleaseThreshold ? sizeof(int) : sizeof(std::uint64_t));
  return cudaSuccess;
}
GPULESS_API cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc*, size_t) { return cudaSuccess; }
GPULESS_API cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
GPULESS_API cudaMallocFromPoolAsync(void** out, size_t bytes, cudaMemPool_t pool, cudaStream_t) {
  return give(allocate(bytes, MemoryKind::device, device_of(pool), out));
}
