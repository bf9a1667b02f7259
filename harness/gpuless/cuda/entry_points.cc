// entry_points.cc: how the runtime gives out driver functions by their names.
#include "harness/gpuless/core/settings.h"
#include "harness/gpuless/cuda/api.h"

using namespace gpuless;  // NOLINT: what follows stands outside of all namespaces

namespace {

// A name that is not there is "not found", which NCCL takes as an older driver's.
cudaError_t entry_point(const char* name, void** out, cudaDriverEntryPointQueryResult* result) {
  *out = driver_function(name);
  if (result) *result = *out ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return *out ? cudaSuccess : give(kSymbolNotFound);
}

}  // namespace

// From CUDA 13 on the header no longer has it; the library does.
GPULESS_API cudaGetDriverEntryPoint(const char* name, void** out, unsigned long long,
                                    cudaDriverEntryPointQueryResult* result) {
  return entry_point(name, out, result);
}
GPULESS_API cudaGetDriverEntryPointByVersion(const char* name, void** out, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  return entry_point(name, out, result);
}
