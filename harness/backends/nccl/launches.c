/* launches.c: puts a kernel on a stream. NCCL asks the runtime for the driver's function; while an action
 * waits for launches, the caller gets ours. */
#include <string.h>

#include "points.h"

#define LAUNCH(type, name, arguments, forward) \
  type wrap_##name arguments { RF_DEVICE_POINT(type, RF_OP_DEVICE_LAUNCH, #name, 0, NEXT(name) forward); }

#define SHAPE dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream
#define SHAPED grid, block, args, shared, stream
LAUNCH(cudaError_t, cudaLaunchKernel, (const void* kernel, SHAPE), (kernel, SHAPED))
LAUNCH(cudaError_t, cudaLaunchCooperativeKernel, (const void* kernel, SHAPE), (kernel, SHAPED))
LAUNCH(cudaError_t, __cudaLaunchKernel, (void* kernel, SHAPE), (kernel, SHAPED))
LAUNCH(cudaError_t, cudaLaunchKernelExC, (const void* config, const void* kernel, void** args),
       (config, kernel, args))
LAUNCH(rf_driver_result, cuLaunchKernel,
       (void* kernel, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz,
        unsigned shared, void* stream, void** args, void** extra),
       (kernel, x, y, z, bx, by, bz, shared, stream, args, extra))
LAUNCH(rf_driver_result, cuLaunchKernelEx, (const void* config, void* kernel, void** args, void** extra),
       (config, kernel, args, extra))

/* Returns our function for this name; null: not a launch. */
static void* ours(const char* name, void* theirs) {
  static const struct {
    const char* name;
    void *wrapper, **next;
  } kOurs[] = {{"cuLaunchKernel", (void*)wrap_cuLaunchKernel, &next_cuLaunchKernel},
               {"cuLaunchKernelEx", (void*)wrap_cuLaunchKernelEx, &next_cuLaunchKernelEx}};
  for (size_t i = 0; i < sizeof kOurs / sizeof *kOurs; ++i) {
    if (strcmp(name, kOurs[i].name) != 0) continue;
    if (!RF_LOAD(kOurs[i].next)) RF_STORE(kOurs[i].next, theirs);
    return kOurs[i].wrapper;
  }
  return NULL;
}

static cudaError_t given(cudaError_t rc, const char* name, void** out) {
  if (rc != cudaSuccess || !name || !out || !*out || !rf_core->inner_armed(RF_OP_DEVICE_LAUNCH)) return rc;
  void* const own = ours(name, *out);
  if (own) *out = own;
  return rc;
}

/* The header of CUDA 13 no longer has the first of these functions. Their enumerations are passed on
 * unchanged. */
cudaError_t wrap_cudaGetDriverEntryPoint(const char* name, void** out, unsigned long long flags,
                                         void* found) {
  return given(NEXT(cudaGetDriverEntryPoint)(name, out, flags, found), name, out);
}
cudaError_t wrap_cudaGetDriverEntryPointByVersion(const char* name, void** out, unsigned version,
                                                  unsigned long long flags, void* found) {
  return given(NEXT(cudaGetDriverEntryPointByVersion)(name, out, version, flags, found), name, out);
}
