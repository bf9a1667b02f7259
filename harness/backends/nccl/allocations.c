/* allocations.c: requests for device memory, or for host memory pinned for it. */
#include "points.h"

#define ALLOCATION(type, name, arguments, bytes, forward) \
  type wrap_##name arguments { RF_DEVICE_POINT(type, RF_OP_DEVICE_ALLOC, #name, bytes, NEXT(name) forward); }

ALLOCATION(cudaError_t, cudaMalloc, (void** out, size_t bytes), bytes, (out, bytes))
ALLOCATION(cudaError_t, cudaMallocHost, (void** out, size_t bytes), bytes, (out, bytes))
ALLOCATION(cudaError_t, cudaHostAlloc, (void** out, size_t bytes, unsigned flags), bytes, (out, bytes, flags))
ALLOCATION(cudaError_t, cudaHostRegister, (void* at, size_t bytes, unsigned flags), bytes, (at, bytes, flags))
ALLOCATION(cudaError_t, cudaMallocAsync, (void** out, size_t bytes, cudaStream_t stream), bytes,
           (out, bytes, stream))
ALLOCATION(cudaError_t, cudaMallocFromPoolAsync,
           (void** out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream), bytes,
           (out, bytes, pool, stream))
ALLOCATION(cudaError_t, cudaMallocManaged, (void** out, size_t bytes, unsigned flags), bytes,
           (out, bytes, flags))
ALLOCATION(rf_driver_result, cuMemAlloc_v2, (unsigned long long* out, size_t bytes), bytes, (out, bytes))
ALLOCATION(rf_driver_result, cuMemCreate,
           (unsigned long long* out, size_t bytes, const void* properties, unsigned long long flags), bytes,
           (out, bytes, properties, flags))
