// api.h: shared by the files of the doubled CUDA runtime: how they export a function and return an error.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "cuda_double/core/errors.h"
#include "cuda_double/core/memory.h"
#include "cuda_double/core/streams.h"

#define GPULESS_API extern "C" __attribute__((visibility("default"))) cudaError_t

namespace cuda_double {

inline cudaError_t give(Error error) { return static_cast<cudaError_t>(keep(error)); }

// The stream of a handle on the thread's device; null: not a stream.
inline StreamPtr stream_of(cudaStream_t handle) { return Streams::all().of(handle, current_device()); }

// A driver function of the double by its name; null: not found.
void* driver_function(const char* name);
// The same of a newer driver, with virtual memory. NCCL does not get these, so that it takes the paths of an
// older driver; PyTorch looks up all that it may use, and ends if one is missing.
void* newer_driver_function(const char* name);
// A function that prints its name and returns "not supported"; null: the double has no such function, like an
// older driver.
void* driver_function_not_modelled(const char* name);

}  // namespace cuda_double
