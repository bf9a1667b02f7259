// Tests of the doubled CUDA runtime through its public functions.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <future>
#include <string>
#include <thread>

#include "cuda_double/model/entry_points.h"

namespace {

// The state of a thread of this process: 'R' running, 'S' sleeping ...
char state_of(int tid) {
  std::ifstream stat("/proc/self/task/" + std::to_string(tid) + "/stat");
  std::string word;
  stat >> word >> word >> word;
  return word.empty() ? '?' : word[0];
}

TEST(Runtime, WhatIsNotModelledSaysItsNameAndIsNotSupported) {
  testing::internal::CaptureStderr();
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaGraphCreate(&graph, 0), cudaErrorNotSupported);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "forgotten once it was asked for";
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "CUDA double: cudaGraphCreate is not modelled\n");
}

// NCCL calls these functions without a check that they exist.
TEST(Runtime, ADriverFunctionThatIsNotModelledSaysItsNameAndIsNotSupported) {
  void* found = nullptr;
  ASSERT_EQ(cudaGetDriverEntryPoint("cuPointerSetAttribute", &found, cudaEnableDefault, nullptr),
            cudaSuccess);
  ASSERT_NE(found, nullptr);
  testing::internal::CaptureStderr();
  EXPECT_EQ(reinterpret_cast<int (*)(void*, int, void*)>(found)(nullptr, 0, nullptr), cudaErrorNotSupported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "CUDA double: cuPointerSetAttribute is not modelled\n");
}

// ncclMemFree asks for the device of the memory that it frees.
TEST(Runtime, TheDriverTellsTheDeviceKindAndRangeOfAnAddress) {
  void *found = nullptr, *at = nullptr;
  ASSERT_EQ(cudaGetDriverEntryPoint("cuPointerGetAttribute", &found, cudaEnableDefault, nullptr),
            cudaSuccess);
  const auto ask = reinterpret_cast<int (*)(void*, int, const void*)>(found);
  enum { kMemoryType = 2, kDeviceOrdinal = 9, kRangeSize = 12, kMempoolHandle = 17 };  // CUpointer_attribute
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&at, 4096), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  int device = -1;
  unsigned kind = 0;
  size_t bytes = 0;
  EXPECT_EQ(ask(&device, kDeviceOrdinal, static_cast<char*>(at) + 100), cudaSuccess);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(ask(&kind, kMemoryType, at), cudaSuccess);
  EXPECT_EQ(kind, 2u) << "device";
  EXPECT_EQ(ask(&bytes, kRangeSize, at), cudaSuccess);
  EXPECT_EQ(bytes, 4096u);
  EXPECT_EQ(ask(&device, kDeviceOrdinal, &device), cudaErrorInvalidValue) << "memory of the program's own";
  EXPECT_EQ(ask(&device, kMempoolHandle, at), cudaErrorNotSupported);
  EXPECT_EQ(cudaFree(at), cudaSuccess);
}

// NCCL recognises an older driver, with which it works, by the absence of these functions.
TEST(Runtime, WhatAnOlderDriverLacksIsNotFound) {
  for (const char* name : {"cuMemCreate", "cuMulticastCreate", "cuCtxCreate", "cuCtxDestroy"}) {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSuccess;
    EXPECT_NE(cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result), cudaSuccess) << name;
    EXPECT_EQ(result, cudaDriverEntryPointSymbolNotFound);
    EXPECT_EQ(found, nullptr);
    cudaGetLastError();
  }
}

// PyTorch 2.9 runs over the same runtime as NCCL, and ends where one of these is missing.
TEST(Runtime, WhoAsksForAVersionFindsWhatAnOlderDriverLacks) {
  for (const char* name : {"cuMemCreate", "cuMulticastCreate", "cuMemsetD32Async"}) {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
    EXPECT_EQ(cudaGetDriverEntryPointByVersion(name, &found, 12030, cudaEnableDefault, &result), cudaSuccess)
        << name;
    EXPECT_EQ(result, cudaDriverEntryPointSuccess);
    EXPECT_NE(found, nullptr);
  }
}

TEST(Runtime, CopiesPageableMemoryBeforeItReturns) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 16), cudaSuccess);
  std::promise<void> opened;
  auto wait = [](void* gate) { static_cast<std::promise<void>*>(gate)->get_future().wait(); };
  ASSERT_EQ(cudaLaunchHostFunc(stream, wait, &opened), cudaSuccess);
  char host[16] = "before";
  ASSERT_EQ(cudaMemcpyAsync(device, host, sizeof host, cudaMemcpyHostToDevice, stream), cudaSuccess);
  std::strcpy(host, "after");
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  opened.set_value();
  ASSERT_EQ(cudaMemcpyAsync(host, device, sizeof host, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  EXPECT_STREQ(host, "before") << "and into pageable memory it waits";
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(Runtime, FreeWaitsForTheDevice) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 16), cudaSuccess);
  std::promise<void> opened;
  auto wait = [](void* gate) { static_cast<std::promise<void>*>(gate)->get_future().wait(); };
  ASSERT_EQ(cudaLaunchHostFunc(stream, wait, &opened), cudaSuccess);
  // opens the stream when this thread sleeps in cudaFree, or has returned from it too early
  std::atomic<bool> came_out{false};
  std::thread opener([&, tid = gettid()] {
    while (!came_out && state_of(tid) != 'S') std::this_thread::yield();
    opened.set_value();
  });
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  came_out = true;
  opener.join();
}

TEST(Runtime, AKernelIsCountedAndComputesNothing) {
  std::uint64_t before[4], after[4];
  rankfault_cuda_counts(before);
  EXPECT_EQ(cudaLaunchKernel(reinterpret_cast<const void*>(&std::strlen), 1, 1, nullptr, 0, nullptr),
            cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  rankfault_cuda_counts(after);
  EXPECT_EQ(after[3], before[3] + 1) << "a kernel of others";
  EXPECT_EQ(after[1], before[1]) << "no collective";
}

TEST(Runtime, ABadHandleOrDeviceIsRefused) {
  auto* none = reinterpret_cast<cudaStream_t>(0x1234);
  EXPECT_EQ(cudaStreamSynchronize(none), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaSetDevice(99), cudaErrorInvalidDevice);
  cudaDeviceProp properties;
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_STREQ(properties.name, "double of a CUDA device");
}

// The libraries of the driver and of the next runtime use the same devices.
TEST(Runtime, AllLibrariesHaveOneState) {
  const std::string folder = std::string(getenv("RANKFAULT_BUILD_DIR")) + "/lib/cuda_double/";
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 10000), cudaSuccess);
  void* driver = dlopen((folder + "libcuda.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(driver) << dlerror();
  auto* range = reinterpret_cast<int (*)(std::uint64_t*, std::size_t*, std::uint64_t)>(
      dlsym(driver, "cuMemGetAddressRange_v2"));
  std::uint64_t base = 0, bytes = 0;
  EXPECT_EQ(range(&base, &bytes, reinterpret_cast<std::uint64_t>(device) + 9999), 0);
  EXPECT_EQ(base, reinterpret_cast<std::uint64_t>(device));
  void* next = dlopen((folder + "libcudart.so.13").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!next) GTEST_SKIP() << "built without the headers of CUDA 13";
  auto* release = reinterpret_cast<int (*)(void*)>(dlsym(next, "cudaFree"));
  EXPECT_EQ(release(device), 0);
  EXPECT_EQ(cudaFree(device), cudaErrorInvalidValue) << "it is gone";
}

}  // namespace
