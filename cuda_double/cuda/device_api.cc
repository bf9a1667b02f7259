// device_api.cc: the runtime's devices and errors, over core/devices.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cuda_double/core/devices.h"
#include "cuda_double/core/memory.h"
#include "cuda_double/core/settings.h"
#include "cuda_double/cuda/api.h"

using namespace cuda_double;  // NOLINT: what follows stands outside of all namespaces

namespace {
Error in_range(int device) {
  return device >= 0 && device < static_cast<int>(settings().devices.size()) ? kSuccess : kInvalidDevice;
}
}  // namespace

GPULESS_API cudaGetDeviceCount(int* count) {
  *count = static_cast<int>(settings().devices.size());
  return *count ? cudaSuccess : give(static_cast<Error>(cudaErrorNoDevice));
}
GPULESS_API cudaGetDevice(int* device) {
  *device = current_device();
  return cudaSuccess;
}
GPULESS_API cudaSetDevice(int device) { return give(set_current_device(device)); }
// A program that asks the runtime of CUDA 13 expects a driver that is as new.
GPULESS_API cudaDriverGetVersion(int* version) {
  *version = std::max(kDriverVersion, CUDART_VERSION / 1000 * 1000);
  return cudaSuccess;
}
GPULESS_API cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
GPULESS_API cudaGetLastError() { return static_cast<cudaError_t>(last_error(true)); }
GPULESS_API cudaPeekAtLastError() { return static_cast<cudaError_t>(last_error(false)); }
extern "C" __attribute__((visibility("default"))) const char* cudaGetErrorString(cudaError_t e) {
  return error_text(e);
}
extern "C" __attribute__((visibility("default"))) const char* cudaGetErrorName(cudaError_t e) {
  return error_name(e);
}

GPULESS_API cudaDeviceGetPCIBusId(char* out, int length, int device) {
  if (in_range(device)) return give(kInvalidDevice);
  std::snprintf(out, static_cast<size_t>(length), "0000:%02X:00.0", static_cast<unsigned>(bus_of(device)));
  return cudaSuccess;
}
GPULESS_API cudaDeviceGetByPCIBusId(int* device, const char* id) {
  unsigned bus = 0;
  if (std::sscanf(id, "%*x:%x", &bus) != 1) return give(kInvalidValue);
  *device = device_on_bus(static_cast<int>(bus));
  return *device < 0 ? give(kInvalidDevice) : cudaSuccess;
}
GPULESS_API cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return cudaSuccess;
}
GPULESS_API cudaDeviceEnablePeerAccess(int, unsigned) {
  return give(static_cast<Error>(cudaErrorPeerAccessUnsupported));
}
// Profiling: nothing listens.
GPULESS_API cudaProfilerStart() { return cudaSuccess; }
GPULESS_API cudaProfilerStop() { return cudaSuccess; }
GPULESS_API cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
GPULESS_API cudaDeviceGetAttribute(int* value, cudaDeviceAttr number, int device) {
  if (in_range(device)) return give(kInvalidDevice);
  *value = attribute(number);
  return cudaSuccess;
}
GPULESS_API cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  if (in_range(device)) return give(kInvalidDevice);
  std::memset(p, 0, sizeof *p);
  std::snprintf(p->name, sizeof p->name, "%s", kDeviceName);
  p->totalGlobalMem = settings().memory;
  p->major = kComputeCapability / 10;
  p->minor = kComputeCapability % 10;
  p->multiProcessorCount = attribute(cudaDevAttrMultiProcessorCount);
  p->warpSize = attribute(cudaDevAttrWarpSize);
  p->maxThreadsPerBlock = attribute(cudaDevAttrMaxThreadsPerBlock);
  p->maxThreadsPerMultiProcessor = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  p->sharedMemPerBlock = static_cast<size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlock));
  p->sharedMemPerBlockOptin = static_cast<size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  p->sharedMemPerMultiprocessor = static_cast<size_t>(attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  p->regsPerBlock = p->regsPerMultiprocessor = attribute(cudaDevAttrMaxRegistersPerBlock);
  p->l2CacheSize = attribute(cudaDevAttrL2CacheSize);
  for (int i = 0; i < 3; ++i) {
    p->maxThreadsDim[i] = attribute(cudaDevAttrMaxBlockDimX + i);
    p->maxGridSize[i] = attribute(cudaDevAttrMaxGridDimX + i);
  }
  p->unifiedAddressing = p->canMapHostMemory = p->concurrentKernels = 1;
  p->pciBusID = bus_of(device);
  for (char& byte : p->uuid.bytes) byte = static_cast<char>(bus_of(device));
  return cudaSuccess;
}
