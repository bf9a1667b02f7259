// entry_points.cc: the runtime functions that return driver functions by name.
#include "cuda_double/core/settings.h"
#include "cuda_double/cuda/api.h"

using namespace cuda_double;  // NOLINT: what follows stands outside of all namespaces

namespace {

cudaError_t entry_point(void* function, void** out, cudaDriverEntryPointQueryResult* result) {
  *out = function;
  if (result) *result = *out ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return *out ? cudaSuccess : give(kSymbolNotFound);
}

}  // namespace

// NCCL here is compiled with the headers of CUDA 12 and asks by this function. An unknown name is "not
// found", from which it concludes an older driver. The header of CUDA 13 no longer declares the function, but
// its library exports it.
GPULESS_API cudaGetDriverEntryPoint(const char* name, void** out, unsigned long long,
                                    cudaDriverEntryPointQueryResult* result) {
  return entry_point(CUDART_VERSION >= 13000 ? newer_driver_function(name) : driver_function(name), out,
                     result);
}
// PyTorch asks by this one, over both releases.
GPULESS_API cudaGetDriverEntryPointByVersion(const char* name, void** out, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  return entry_point(newer_driver_function(name), out, result);
}
