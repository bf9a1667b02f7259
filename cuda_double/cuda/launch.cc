// launch.cc: the runtime's kernel launches. No kernel is executed: a kernel of NCCL represents NCCL's calls,
// and any other kernel is counted and does nothing.
#include "cuda_double/model/launch.h"

#include <cstring>
#include <vector>

#include "cuda_double/core/devices.h"
#include "cuda_double/cuda/api.h"

using namespace cuda_double;  // NOLINT: what follows stands outside of all namespaces

namespace {
const void* first_of(void** parameters) { return parameters ? parameters[0] : nullptr; }
}  // namespace

GPULESS_API cudaLaunchKernel(const void* kernel, dim3, dim3, void** parameters, size_t, cudaStream_t stream) {
  return give(launch(kernel, stream_of(stream), first_of(parameters)));
}
GPULESS_API cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** parameters) {
  return give(launch(kernel, stream_of(config->stream), first_of(parameters)));
}
GPULESS_API cudaLaunchCooperativeKernel(const void* kernel, dim3, dim3, void** parameters, size_t,
                                        cudaStream_t stream) {
  return give(launch(kernel, stream_of(stream), first_of(parameters)));
}
GPULESS_API cudaGetFuncBySymbol(cudaFunction_t* out, const void* kernel) {
  *out = reinterpret_cast<cudaFunction_t>(const_cast<void*>(kernel));
  return cudaSuccess;
}
GPULESS_API cudaFuncGetAttributes(cudaFuncAttributes* out, const void*) {
  std::memset(out, 0, sizeof *out);
  out->maxThreadsPerBlock = 1024;
  out->numRegs = 96;
  out->binaryVersion = out->ptxVersion = kComputeCapability;
  return cudaSuccess;
}
GPULESS_API cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
GPULESS_API cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int, size_t,
                                                                   unsigned) {
  *blocks = 1;
  return cudaSuccess;
}
GPULESS_API cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, size_t) {
  *blocks = 1;
  return cudaSuccess;
}

// Code that nvcc generates calls the functions below. Their names are public in crt/host_runtime.h.
namespace {
struct Configuration {
  dim3 grid, block;
  size_t memory;
  void* stream;
};
thread_local std::vector<Configuration> configurations;
}  // namespace

#define GPULESS_PLAIN extern "C" __attribute__((visibility("default")))
GPULESS_PLAIN void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
GPULESS_PLAIN void __cudaRegisterFatBinaryEnd(void**) {}
GPULESS_PLAIN void __cudaUnregisterFatBinary(void**) {}
GPULESS_PLAIN void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*,
                                          void*, int*) {}
GPULESS_PLAIN void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}
GPULESS_PLAIN char __cudaInitModule(void**) { return 1; }
GPULESS_PLAIN unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t memory, void* stream) {
  configurations.push_back({grid, block, memory, stream});
  return 0;
}
GPULESS_PLAIN cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* memory, void* stream) {
  if (configurations.empty()) return give(kInvalidValue);
  Configuration c = configurations.back();
  configurations.pop_back();
  *grid = c.grid;
  *block = c.block;
  *memory = c.memory;
  *static_cast<void**>(stream) = c.stream;
  return cudaSuccess;
}
#if CUDART_VERSION >= 13000
GPULESS_PLAIN cudaError_t __cudaGetKernel(cudaKernel_t* out, const void* kernel) {
  *out = reinterpret_cast<cudaKernel_t>(const_cast<void*>(kernel));
  return cudaSuccess;
}
GPULESS_PLAIN cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3, dim3, void** parameters, size_t,
                                             cudaStream_t stream) {
  return give(launch(kernel, stream_of(stream), first_of(parameters)));
}
#endif
