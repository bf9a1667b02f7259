// driver_not_modelled.cc: the driver functions that NCCL looks up and calls without a check for null, and
// those that PyTorch is linked to. Each prints its name and returns "not supported"; a null pointer would end
// the rank without a message.
//
// It leaves out cuMemCreate, cuMulticastCreate, cuCtxCreate and cuCtxDestroy: without them NCCL concludes an
// older driver and takes another path.
#include <cstring>
#include <string>

#include "cuda_double/core/settings.h"
#include "cuda_double/cuda/api.h"

#define GPULESS_DRIVER_NAMES(X)                  \
  X(cuFuncGetAttribute)                          \
  X(cuFuncSetAttribute)                          \
  X(cuFuncSetCacheConfig)                        \
  X(cuLaunchCooperativeKernel)                   \
  X(cuLinkAddData_v2)                            \
  X(cuLinkComplete)                              \
  X(cuLinkCreate_v2)                             \
  X(cuMemAddressReserve)                         \
  X(cuMemAddressFree)                            \
  X(cuMemGetAllocationGranularity)               \
  X(cuMemGetAllocationPropertiesFromHandle)      \
  X(cuMemExportToShareableHandle)                \
  X(cuMemImportFromShareableHandle)              \
  X(cuMemGetHandleForAddressRange)               \
  X(cuMemRetainAllocationHandle)                 \
  X(cuMemMap)                                    \
  X(cuMemUnmap)                                  \
  X(cuMemRelease)                                \
  X(cuMemSetAccess)                              \
  X(cuModuleGetFunction)                         \
  X(cuModuleLoad)                                \
  X(cuModuleLoadData)                            \
  X(cuModuleLoadDataEx)                          \
  X(cuModuleUnload)                              \
  X(cuMulticastAddDevice)                        \
  X(cuMulticastBindAddr)                         \
  X(cuMulticastBindMem)                          \
  X(cuMulticastGetGranularity)                   \
  X(cuMulticastUnbind)                           \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
  X(cuPointerSetAttribute)                       \
  X(cuStreamBatchMemOp)                          \
  X(cuStreamWaitValue32)                         \
  X(cuStreamWaitValue64)                         \
  X(cuStreamWriteValue32)                        \
  X(cuStreamWriteValue64)                        \
  X(cuTensorMapEncodeTiled)

// The arguments are ignored, so one signature fits all functions.
#define GPULESS_DEFINE(name)                                                           \
  extern "C" __attribute__((visibility("default"))) int no_##name(...) __asm__(#name); \
  int no_##name(...) {                                                                 \
    cuda_double::say_once(#name " is not modelled");                                   \
    return CUDA_ERROR_NOT_SUPPORTED;                                                   \
  }
GPULESS_DRIVER_NAMES(GPULESS_DEFINE)

void* cuda_double::driver_function_not_modelled(const char* name) {
#define GPULESS_ASKED(one) \
  if (std::strcmp(#one, name) == 0) return reinterpret_cast<void*>(&no_##one);
  GPULESS_DRIVER_NAMES(GPULESS_ASKED)
  return nullptr;
}
