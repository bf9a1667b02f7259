// driver.cc: the driver functions that the runtime returns by name and libcuda.so.1 exports, over the same
// state.
#include <cstring>
#include <string>

#include "cuda_double/core/devices.h"
#include "cuda_double/core/memory.h"
#include "cuda_double/core/settings.h"
#include "cuda_double/cuda/api.h"
#include "cuda_double/model/launch.h"

using namespace cuda_double;  // NOLINT: what follows stands outside of all namespaces

namespace {

CUresult as_driver(Error error) { return static_cast<CUresult>(error); }

// The caller passes a kernel's parameters one by one, or in one buffer that `extra` names.
const void* first_parameter(void** parameters, void** extra) {
  if (parameters) return parameters[0];
  for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2)
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) return extra[1];
  return nullptr;
}

}  // namespace

#define GPULESS_DRIVER extern "C" __attribute__((visibility("default"))) CUresult

GPULESS_DRIVER cuGetErrorString(CUresult error, const char** text) {
  *text = error_text(error);
  return CUDA_SUCCESS;
}
GPULESS_DRIVER cuGetErrorName(CUresult error, const char** name) {
  *name = error_name(error);
  return CUDA_SUCCESS;
}
GPULESS_DRIVER cuInit(unsigned) { return settings().devices.empty() ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS; }
GPULESS_DRIVER cuDriverGetVersion(int* version) {
  *version = kDriverVersion;
  return CUDA_SUCCESS;
}
GPULESS_DRIVER cuDeviceGetCount(int* count) {
  *count = static_cast<int>(settings().devices.size());
  return CUDA_SUCCESS;
}
GPULESS_DRIVER cuDeviceGet(CUdevice* device, int ordinal) {
  if (ordinal < 0 || ordinal >= static_cast<int>(settings().devices.size())) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}
GPULESS_DRIVER cuDeviceGetAttribute(int* value, CUdevice_attribute number, CUdevice) {
  *value = attribute(number);  // the numbers are those of cudaDeviceAttr
  return CUDA_SUCCESS;
}
// A context is its device's number plus 1.
GPULESS_DRIVER cuCtxGetCurrent(CUcontext* context) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a handle, never followed
  *context = reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(current_device()) + 1);
  return CUDA_SUCCESS;
}
GPULESS_DRIVER cuCtxSetCurrent(CUcontext context) {
  if (!context) return CUDA_SUCCESS;
  return as_driver(set_current_device(static_cast<int>(reinterpret_cast<std::uintptr_t>(context)) - 1));
}
GPULESS_DRIVER cuDevicePrimaryCtxGetState(CUdevice, unsigned* flags, int* active) {
  *flags = 0;
  *active = 1;
  return CUDA_SUCCESS;
}
GPULESS_DRIVER cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a handle, never followed
  *context = reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(device) + 1);
  return CUDA_SUCCESS;
}
GPULESS_DRIVER cuCtxGetDevice(CUdevice* device) {
  *device = current_device();
  return CUDA_SUCCESS;
}
GPULESS_DRIVER cuMemGetAddressRange(CUdeviceptr* base, size_t* bytes, CUdeviceptr at) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a device address is a number in the driver's API
  std::optional<Allocation> allocation = allocation_of(reinterpret_cast<void*>(at));
  if (!allocation) return CUDA_ERROR_NOT_FOUND;
  if (base) *base = allocation->base;
  if (bytes) *bytes = allocation->bytes;
  return CUDA_SUCCESS;
}
// Memory that CUDA does not know has no attributes.
GPULESS_DRIVER cuPointerGetAttribute(void* out, CUpointer_attribute attribute, CUdeviceptr at) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a device address is a number in the driver's API
  std::optional<Allocation> allocation = allocation_of(reinterpret_cast<void*>(at));
  if (!out || !allocation) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      // NOLINTNEXTLINE(performance-no-int-to-ptr): as cuCtxGetCurrent gives it
      *static_cast<CUcontext*>(out) = reinterpret_cast<CUcontext>(allocation->device + std::uintptr_t{1});
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(out) = static_cast<unsigned>(allocation->kind);  // the numbers of CUmemorytype
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<CUdeviceptr*>(out) = at;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(out) = allocation->device;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      *static_cast<CUdeviceptr*>(out) = allocation->base;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      *static_cast<std::size_t*>(out) = allocation->bytes;
      return CUDA_SUCCESS;
    default:
      say_once("cuPointerGetAttribute of attribute " + std::to_string(attribute) + " is not modelled");
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}
GPULESS_DRIVER cuLaunchKernel(CUfunction kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                              unsigned, CUstream stream, void** parameters, void** extra) {
  return as_driver(launch(kernel, stream_of(stream), first_parameter(parameters, extra)));
}
GPULESS_DRIVER cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction kernel, void** parameters,
                                void** extra) {
  return as_driver(launch(kernel, stream_of(config->hStream), first_parameter(parameters, extra)));
}

// Finds a function by the name that programs ask for. The headers define some functions under another name
// (cuMemGetAddressRange_v2).
void* cuda_double::driver_function(const char* name) {
  struct Named {
    const char* name;
    void* function;
  };
#define GPULESS_NAMED(function) /* NOLINT(bugprone-macro-parentheses): a name */ \
  { #function, reinterpret_cast < void*>(&function) }
  static const Named functions[] = {
      GPULESS_NAMED(cuGetErrorString),
      GPULESS_NAMED(cuGetErrorName),
      GPULESS_NAMED(cuInit),
      GPULESS_NAMED(cuDriverGetVersion),
      GPULESS_NAMED(cuDeviceGetCount),
      GPULESS_NAMED(cuDeviceGet),
      GPULESS_NAMED(cuDeviceGetAttribute),
      GPULESS_NAMED(cuCtxGetCurrent),
      GPULESS_NAMED(cuCtxSetCurrent),
      GPULESS_NAMED(cuCtxGetDevice),
      {"cuMemGetAddressRange", reinterpret_cast<void*>(&cuMemGetAddressRange)},
      GPULESS_NAMED(cuPointerGetAttribute),
      GPULESS_NAMED(cuLaunchKernel),
      GPULESS_NAMED(cuLaunchKernelEx),
  };
  for (const Named& one : functions) {
    if (std::strcmp(one.name, name) == 0) return one.function;
  }
  return driver_function_not_modelled(name);
}
