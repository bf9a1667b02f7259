// NcclStage: a stream on this process's device, and the memory for copies to and from the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "workloads/trainer/nccl_patience.h"

namespace trainer {

// Sets this process's device: by LOCAL_RANK, or by `rank` without it. The first call decides. Throws
// CollectiveError.
void use_device_of(int rank);

class NcclStage {
 public:
  NcclStage();
  ~NcclStage();
  NcclStage(const NcclStage&) = delete;
  NcclStage& operator=(const NcclStage&) = delete;

  cudaStream_t stream() const { return stream_; }
  char* device() const { return device_; }  // where begin() copies the bytes

  // Enqueues a copy of `size` bytes to the device. First allocates more memory if it is needed.
  void begin(const void* bytes, size_t size, const Patience& patience);
  // Enqueues a copy of `size` bytes from the device. Once the stream is drained, take() returns them.
  void give_back(size_t size, const Patience& patience);
  void take(void* bytes, size_t size) const;

  // False: an entry of the stream is not complete yet.
  bool drained(const Patience& patience) const;

 private:
  void release();

  cudaStream_t stream_ = nullptr;
  char *device_ = nullptr, *host_ = nullptr;
  size_t room_ = 0;
};

}  // namespace trainer
