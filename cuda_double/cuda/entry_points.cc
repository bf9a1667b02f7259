// entry_points.cc: the runtime functions that return driver functions by name.
#include "cuda_double/core/settings.h"
#include "cuda_double/cuda/api.h"

using namespace cuda_double;  // NOLINT: what follows stands outside of all namespaces

namespace {

// An unknown name is "not found". From this NCCL concludes an older driver.
cudaError_t entry_point(const char* name, void** out, cudaDriverEntryPointQueryResult* result) {
#if CUDART_VERSION >= 13000  // PyTorch's; NCCL is linked to that of CUDA 12
  *out = newer_driver_function(name);
#else
  *out = driver_function(name);
#endif
  if (result) *result = *out ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return *out ? cudaSuccess : give(kSymbolNotFound);
}

}  // namespace

// The header of CUDA 13 no longer declares this function, but its library exports it.
GPULESS_API cudaGetDriverEntryPoint(const char* name, void** out, unsigned long long,
                                    cudaDriverEntryPointQueryResult* result) {
  return entry_point(name, out, result);
}
GPULESS_API cudaGetDriverEntryPointByVersion(const char* name, void** out, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  return entry_point(name, out, result);
}
