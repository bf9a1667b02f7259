// driver.cc: the driver functions that the runtime is asked for, over the same state; libcuda.so.1 exports
// them.
#include <cstring>
#include <string>

#include "harness/gpuless/core/devices.h"
#include "harness/gpuless/core/memory.h"
#include "harness/gpuless/core/settings.h"
#include "harness/gpuless/cuda/api.h"
#include "harness/gpuless/model/launch.h"

using namespace gpuless;  // NOLINT: what follows stands outside of all namespaces

namespace {

CUresult as_driver(Error error) { return static_cast<CUresult>(error); }

CUresult get_error_string(CUresult error, const char** text) {
  *text = error_text(error);
  return CUDA_SUCCESS;
}
CUresult get_error_name(CUresult error, const char** name) {
  *name = error_name(error);
  return CUDA_SUCCESS;
}
CUresult init(unsigned) { return settings().devices.empty() ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS; }
CUresult driver_version(int* version) {
  *version = kDriverVersion;
  return CUDA_SUCCESS;
}
CUresult device_count(int* count) {
  *count = static_cast<int>(settings().devices.size());
  return CUDA_SUCCESS;
}
CUresult device_get(CUdevice* device, int ordinal) {
  if (ordinal < 0 || ordinal >= static_cast<int>(settings().devices.size())) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult device_attribute(int* value, CUdevice_attribute number, CUdevice) {
  *value = attribute(number);  // the numbers are those of cudaDeviceAttr
  return CUDA_SUCCESS;
}
// A context is its device's number, from 1 on.
CUresult context_current(CUcontext* context) {
  *context = reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(current_device()) + 1);
  return CUDA_SUCCESS;
}
CUresult context_set(CUcontext context) {
  if (!context) return CUDA_SUCCESS;
  return as_driver(set_current_device(static_cast<int>(reinterpret_cast<std::uintptr_t>(context)) - 1));
}
CUresult context_device(CUdevice* device) {
  *device = current_device();
  return CUDA_SUCCESS;
}
CUresult address_range(CUdeviceptr* base, size_t* bytes, CUdeviceptr at) {
  std::optional<Allocation> allocation = allocation_of(reinterpret_cast<void*>(at));
  if (!allocation) return CUDA_ERROR_NOT_FOUND;
  if (base) *base = allocation->base;
  if (bytes) *bytes = allocation->bytes;
  return CUDA_SUCCESS;
}
CUresult launch_kernel(CUfunction kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                       unsigned, CUstream stream, void**, void**) {
  return as_driver(launch(kernel, stream_of(stream)));
}
CUresult launch_kernel_ex(const CUlaunchConfig* config, CUfunction kernel, void**, void**) {
  return as_driver(launch(kernel, stream_of(config->hStream)));
}

struct Named {
  const char* name;
  void* function;
};
#define GPULESS_NAMED(name, function) \
  { name, reinterpret_cast<void*>(function) }
const Named kFunctions[] = {
    GPULESS_NAMED("cuGetErrorString", get_error_string),
    GPULESS_NAMED("cuGetErrorName", get_error_name),
    GPULESS_NAMED("cuInit", init),
    GPULESS_NAMED("cuDriverGetVersion", driver_version),
    GPULESS_NAMED("cuDeviceGetCount", device_count),
    GPULESS_NAMED("cuDeviceGet", device_get),
    GPULESS_NAMED("cuDeviceGetAttribute", device_attribute),
    GPULESS_NAMED("cuCtxGetCurrent", context_current),
    GPULESS_NAMED("cuCtxSetCurrent", context_set),
    GPULESS_NAMED("cuCtxGetDevice", context_device),
    GPULESS_NAMED("cuMemGetAddressRange", address_range),
    GPULESS_NAMED("cuLaunchKernel", launch_kernel),
    GPULESS_NAMED("cuLaunchKernelEx", launch_kernel_ex),
};

cudaError_t entry_point(const char* name, void** out, cudaDriverEntryPointQueryResult* result) {
  *out = driver_function(name);
  if (result) *result = *out ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return *out ? cudaSuccess : give(kSymbolNotFound);
}

}  // namespace

void* gpuless::driver_function(const char* name) {
  for (const Named& one : kFunctions) {
    if (std::strcmp(one.name, name) == 0) return one.function;
  }
  return nullptr;
}

#if CUDART_VERSION < 13000
GPULESS_API cudaGetDriverEntryPoint(const char* name, void** out, unsigned long long,
                                    cudaDriverEntryPointQueryResult* result) {
  return entry_point(name, out, result);
}
#endif
GPULESS_API cudaGetDriverEntryPointByVersion(const char* name, void** out, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  return entry_point(name, out, result);
}
