// driver_not_modelled.cc: the driver functions that NCCL looks up and calls without a check for null. Each
// prints its name and returns "not supported"; a null pointer would end the rank without a message.
//
// It leaves out cuMemCreate, cuMulticastCreate, cuCtxCreate and cuCtxDestroy: without them NCCL concludes an
// older driver and takes another path.
#include <cstring>
#include <string>

#include "cuda_double/core/settings.h"
#include "cuda_double/cuda/api.h"

#define GPULESS_DRIVER_NAMES(X)             \
  X(cuMemAddressReserve)                    \
  X(cuMemAddressFree)                       \
  X(cuMemGetAllocationGranularity)          \
  X(cuMemGetAllocationPropertiesFromHandle) \
  X(cuMemExportToShareableHandle)           \
  X(cuMemImportFromShareableHandle)         \
  X(cuMemGetHandleForAddressRange)          \
  X(cuMemRetainAllocationHandle)            \
  X(cuMemMap)                               \
  X(cuMemUnmap)                             \
  X(cuMemRelease)                           \
  X(cuMemSetAccess)                         \
  X(cuMulticastAddDevice)                   \
  X(cuMulticastBindAddr)                    \
  X(cuMulticastBindMem)                     \
  X(cuMulticastGetGranularity)              \
  X(cuMulticastUnbind)                      \
  X(cuPointerSetAttribute)                  \
  X(cuStreamBatchMemOp)                     \
  X(cuStreamWaitValue32)                    \
  X(cuStreamWaitValue64)                    \
  X(cuStreamWriteValue32)                   \
  X(cuStreamWriteValue64)

// The arguments are ignored, so one signature fits all functions.
#define GPULESS_DEFINE(name)                         \
  static int no_##name(...) {                        \
    cuda_double::say_once(#name " is not modelled"); \
    return CUDA_ERROR_NOT_SUPPORTED;                 \
  }
GPULESS_DRIVER_NAMES(GPULESS_DEFINE)

void* cuda_double::driver_function_not_modelled(const char* name) {
#define GPULESS_ASKED(one) \
  if (std::strcmp(#one, name) == 0) return reinterpret_cast<void*>(&no_##one);
  GPULESS_DRIVER_NAMES(GPULESS_ASKED)
  return nullptr;
}
