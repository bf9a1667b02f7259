// NcclStage: uses pinned host memory. An asynchronous copy from pageable memory may block its caller until
// the previous collective is complete, which is a wait without a limit.
#include "workloads/trainer/nccl_stage.h"

#include <cstdlib>
#include <cstring>
#include <string>

namespace trainer {

namespace {

std::string text_of(cudaError_t result, const char* what) {
  return std::string(what) + " failed: " + cudaGetErrorString(result);
}

void must(cudaError_t result, const char* what) {
  if (result != cudaSuccess) throw CollectiveError("other", text_of(result, what));
}

void must(cudaError_t result, const char* what, const Patience& patience) {
  if (result != cudaSuccess) patience.fail("other", text_of(result, what));
}

int chosen_device(int rank) {
  int devices = 0;
  must(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  if (devices == 0) throw CollectiveError("other", "this machine has no CUDA device");
  const char* local = std::getenv("LOCAL_RANK");
  return (local ? std::atoi(local) : rank) % devices;
}

}  // namespace

// A rank that gets another number in a new meeting keeps its device.
void use_device_of(int rank) {
  static const int device = chosen_device(rank);
  must(cudaSetDevice(device), "cudaSetDevice");
}

NcclStage::NcclStage() {
  must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
}

// If the stream is not drained after an abort, its kernel ignores the abort. To free memory would wait for
// this kernel, so nothing is freed.
NcclStage::~NcclStage() {
  if (cudaStreamQuery(stream_) == cudaErrorNotReady) return;
  release();
  cudaStreamDestroy(stream_);
}

void NcclStage::release() {
  cudaFree(device_);
  cudaFreeHost(host_);
  device_ = host_ = nullptr;
  room_ = 0;
}

void NcclStage::begin(const void* bytes, size_t size, const Patience& patience) {
  if (size > room_) {
    release();
    must(cudaMalloc(reinterpret_cast<void**>(&device_), size), "cudaMalloc", patience);
    must(cudaMallocHost(reinterpret_cast<void**>(&host_), size), "cudaMallocHost", patience);
    room_ = size;
  }
  std::memcpy(host_, bytes, size);
  must(cudaMemcpyAsync(device_, host_, size, cudaMemcpyHostToDevice, stream_), "cudaMemcpyAsync", patience);
}

void NcclStage::give_back(size_t size, const Patience& patience) {
  must(cudaMemcpyAsync(host_, device_, size, cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync", patience);
}

void NcclStage::take(void* bytes, size_t size) const { std::memcpy(bytes, host_, size); }

bool NcclStage::drained(const Patience& patience) const {
  const cudaError_t result = cudaStreamQuery(stream_);
  if (result != cudaErrorNotReady) must(result, "cudaStreamQuery", patience);
  return result != cudaErrorNotReady;
}

}  // namespace trainer
