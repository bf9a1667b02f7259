// driver_not_modelled.cc: driver functions that NCCL looks up and then calls without asking whether they are
// there: each says its name and is "not supported", where a null pointer would end the rank without a word.
//
// Not here are those by whose absence NCCL tells an older driver, and goes another way: cuMemCreate,
// cuMulticastCreate, cuCtxCreate, cuCtxDestroy.
#include <cstring>
#include <string>

#include "harness/gpuless/core/settings.h"
#include "harness/gpuless/cuda/api.h"

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

// The arguments are not looked at, so that one shape fits all.
#define GPULESS_DEFINE(name)                     \
  static int no_##name(...) {                    \
    gpuless::say_once(#name " is not modelled"); \
    return CUDA_ERROR_NOT_SUPPORTED;             \
  }
GPULESS_DRIVER_NAMES(GPULESS_DEFINE)

void* gpuless::driver_function_not_modelled(const char* name) {
#define GPULESS_ASKED(one) \
  if (std::strcmp(#one, name) == 0) return reinterpret_cast<void*>(&no_##one);
  GPULESS_DRIVER_NAMES(GPULESS_ASKED)
  return nullptr;
}
