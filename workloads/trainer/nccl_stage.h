// NcclStage: a stream of this process's device, and the memory through which numbers go to the device and
// back.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "workloads/trainer/nccl_patience.h"

namespace trainer {

// The device that this process works on: by LOCAL_RANK, else by `rank`; chosen once. Throws CollectiveError.
void use_device_of(int rank);

class NcclStage {
 public:
  NcclStage();
  ~NcclStage();
  NcclStage(const NcclStage&) = delete;
  NcclStage& operator=(const NcclStage&) = delete;

  cudaStream_t stream() const { return stream_; }
  char* device() const { return device_; }  // where begin() puts the bytes

  // Puts the copy of `size` bytes to the device into the stream, and makes room for them before.
  void begin(const void* bytes, size_t size, const Patience& patience);
  // Puts the copy of `size` bytes from the device into the stream; take() them once it is drained.
  void give_back(size_t size, const Patience& patience);
  void take(void* bytes, size_t size) const;

  // False: something in it is not complete yet.
  bool drained(const Patience& patience) const;

 private:
  void release();

  cudaStream_t stream_ = nullptr;
  char *device_ = nullptr, *host_ = nullptr;
  size_t room_ = 0;
};

}  // namespace trainer
