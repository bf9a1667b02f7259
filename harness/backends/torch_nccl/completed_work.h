/* completed_work.h: what the decoder of PyTorch asks of a module that is compiled with PyTorch's own headers:
 * a c10d::Work that is complete, for a call that was skipped.
 *
 * PyTorch's classes cannot be made without its headers, and they change with its version. So there is one
 * module for each version: lib/decoders/completed_work/2.12.1.so. */
#ifndef RANKFAULT_BACKENDS_TORCH_NCCL_COMPLETED_WORK_H
#define RANKFAULT_BACKENDS_TORCH_NCCL_COMPLETED_WORK_H

#include <cstdint>

namespace rankfault::completed_work {

// c10d::OpType; the module compares the numbers with PyTorch's own when it is compiled.
enum OpType : uint8_t {
  kBroadcast = 0,
  kAllreduce = 1,
  kAllreduceCoalesced = 2,
  kReduce = 3,
  kAllgather = 4,
  kAllgatherBase = 5,
  kAllgatherCoalesced = 6,
  kGather = 7,
  kScatter = 8,
  kReduceScatter = 9,
  kAlltoallBase = 10,
  kAlltoall = 11,
  kSend = 12,
  kRecv = 13,
  kRecvAnysource = 14,
  kBarrier = 15,
  kReduceScatterBase = 16,
  kCoalesced = 17,
  kAllreduceSparse = 18,
};

// Tensors in a row: an at::Tensor is one pointer.
struct Tensors {
  void* const* first = nullptr;
  uint64_t count = 0;
};

// Returns a c10d::Work* that holds the tensors as its result and that the caller owns; null if PyTorch
// refuses.
constexpr const char* kSymbol = "rankfault_completed_work_v1";
using Make = void* (*)(OpType, Tensors);

}  // namespace rankfault::completed_work

#endif  // RANKFAULT_BACKENDS_TORCH_NCCL_COMPLETED_WORK_H
