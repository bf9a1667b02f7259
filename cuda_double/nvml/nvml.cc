// nvml.cc: the NVML functions that NCCL looks up, for the same devices: no NVLink, no fabric, no peer access.
#include <cstdint>
#include <cstdio>

#include "cuda_double/core/devices.h"
#include "cuda_double/core/settings.h"

#define GPULESS_NVML extern "C" __attribute__((visibility("default"))) int

namespace {

// The public numbers of nvmlReturn_t, and of nvmlGpuP2PStatus_t.
constexpr int kSuccess = 0, kInvalidArgument = 2, kNotSupported = 3, kNotFound = 6;
constexpr int kChipsetNotSupported = 1;

// NVML counts the machine's devices and ignores CUDA_VISIBLE_DEVICES. A handle is the number plus 1.
int devices() { return cuda_double::settings().machine_devices; }
// NOLINTNEXTLINE(performance-no-int-to-ptr): a handle, never followed
void* handle_of(int device) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(device) + 1); }
int device_of(void* handle) { return static_cast<int>(reinterpret_cast<std::uintptr_t>(handle)) - 1; }

}  // namespace

GPULESS_NVML nvmlInit() { return kSuccess; }
GPULESS_NVML nvmlInit_v2() { return kSuccess; }
GPULESS_NVML nvmlShutdown() { return kSuccess; }
extern "C" __attribute__((visibility("default"))) const char* nvmlErrorString(int) {
  return "an error of the NVML double";
}
GPULESS_NVML nvmlDeviceGetCount(unsigned* count) {
  *count = static_cast<unsigned>(devices());
  return kSuccess;
}
GPULESS_NVML nvmlDeviceGetCount_v2(unsigned* count) { return nvmlDeviceGetCount(count); }
GPULESS_NVML nvmlDeviceGetHandleByIndex(unsigned index, void** device) {
  if (static_cast<int>(index) >= devices()) return kInvalidArgument;
  *device = handle_of(static_cast<int>(index));
  return kSuccess;
}
GPULESS_NVML nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  return nvmlDeviceGetHandleByIndex(index, device);
}
GPULESS_NVML nvmlDeviceGetHandleByPciBusId(const char* id, void** device) {
  unsigned bus = 0;
  if (std::sscanf(id, "%*x:%x", &bus) != 1) return kInvalidArgument;
  int number = static_cast<int>(bus) - cuda_double::kFirstBus;
  if (number < 0 || number >= devices()) return kNotFound;
  *device = handle_of(number);
  return kSuccess;
}
GPULESS_NVML nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  return nvmlDeviceGetHandleByPciBusId(id, device);
}
GPULESS_NVML nvmlDeviceGetIndex(void* device, unsigned* index) {
  *index = static_cast<unsigned>(device_of(device));
  return kSuccess;
}
GPULESS_NVML nvmlDeviceGetCudaComputeCapability(void*, int* major, int* minor) {
  *major = cuda_double::kComputeCapability / 10;
  *minor = cuda_double::kComputeCapability % 10;
  return kSuccess;
}
GPULESS_NVML nvmlDeviceGetComputeRunningProcesses(void*, unsigned* count, void*) {
  *count = 0;
  return kSuccess;
}
GPULESS_NVML nvmlDeviceGetP2PStatus(void*, void*, int, int* status) {
  *status = kChipsetNotSupported;
  return kSuccess;
}
GPULESS_NVML nvmlSystemGetCudaDriverVersion(int* version) {
  *version = cuda_double::kDriverVersion;
  return kSuccess;
}
GPULESS_NVML nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return nvmlSystemGetCudaDriverVersion(version);
}
GPULESS_NVML nvmlDeviceGetNvLinkState(void*, unsigned, int*) { return kNotSupported; }
GPULESS_NVML nvmlDeviceGetNvLinkRemotePciInfo(void*, unsigned, void*) { return kNotSupported; }
GPULESS_NVML nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, void*) { return kNotSupported; }
GPULESS_NVML nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, int*) { return kNotSupported; }
GPULESS_NVML nvmlDeviceGetNvLinkCapability(void*, unsigned, int, unsigned*) { return kNotSupported; }
GPULESS_NVML nvmlDeviceGetFieldValues(void*, int, void*) { return kNotSupported; }
