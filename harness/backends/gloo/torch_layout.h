// torch_layout.h: the few bytes of PyTorch and of its Gloo that the decoder reads, as our own layouts.
// PyTorch ships no Gloo headers; sizes and order come from the sources of both projects.
//
// Each reader checks whether the value is possible; an impossible one is not recorded.
#ifndef RANKFAULT_BACKENDS_GLOO_TORCH_LAYOUT_H
#define RANKFAULT_BACKENDS_GLOO_TORCH_LAYOUT_H

#include <cstdint>
#include <vector>

#include "harness/agent/agent_abi.h"

namespace rankfault::gloo_decoder::layout {

// at::Tensor is one pointer; lists of them are vectors of pointers.
using Tensor = void*;
using Tensors = std::vector<Tensor>;
using TensorLists = std::vector<Tensors>;

template <typename T>
const T& at(const void* object, uint32_t offset) {
  return *reinterpret_cast<const T*>(static_cast<const char*>(object) + offset);
}

// The first members of gloo::Context.
struct Context {
  int32_t rank;
  int32_t size;
};
// gloo::transport::UnboundBuffer
struct Buffer {
  void* virtual_table;
  void* data;
  uint64_t bytes;
};

// Offsets of the members of one gloo:: options class; 0 if it has no such member (offset 0 is the context).
struct GlooOptions {
  rf_op op;
  uint16_t tag, timeout_ms, element_size;
  uint16_t elements;  // a number of elements
  uint16_t buffer;    // else: a buffer, whose size gives the count
  uint16_t root;
  uint16_t lengths;  // vector of bytes that each rank owes this rank
  bool per_rank;     // the buffer holds one share for each rank
};
inline constexpr GlooOptions kAllreduce{RF_OP_ALL_REDUCE, 128, 16, 88, 80, 0, 0, 0, false};
inline constexpr GlooOptions kAllgather{RF_OP_ALL_GATHER, 40, 48, 32, 0, 24, 0, 0, true};
inline constexpr GlooOptions kAllgatherv{RF_OP_ALL_GATHERV, 64, 72, 56, 0, 16, 0, 32, false};
inline constexpr GlooOptions kAlltoall{RF_OP_ALL_TO_ALL, 40, 48, 32, 0, 16, 0, 0, true};
inline constexpr GlooOptions kAlltoallv{RF_OP_ALL_TO_ALLV, 136, 144, 128, 0, 16, 0, 104, false};
inline constexpr GlooOptions kBarrier{RF_OP_BARRIER, 24, 32, 0, 0, 0, 0, 0, false};
inline constexpr GlooOptions kBroadcast{RF_OP_BROADCAST, 52, 56, 40, 32, 0, 48, 0, false};
inline constexpr GlooOptions kGather{RF_OP_GATHER, 44, 48, 32, 0, 16, 40, 0, false};
inline constexpr GlooOptions kReduce{RF_OP_REDUCE, 88, 104, 40, 32, 0, 48, 0, false};
inline constexpr GlooOptions kScatter{RF_OP_SCATTER, 60, 64, 48, 0, 40, 56, 0, false};

// c10d options of a broadcast, gather or scatter; others: TorchOffsets
inline constexpr uint32_t kRootOfOtherOptions = 0;

inline rf_dtype dtype_of_scalar_type(int32_t scalar_type) {
  constexpr rf_dtype kTypes[] = {RF_DTYPE_UINT8,  RF_DTYPE_INT8,      RF_DTYPE_INT16,      RF_DTYPE_INT32,
                                 RF_DTYPE_INT64,  RF_DTYPE_FLOAT16,   RF_DTYPE_FLOAT32,    RF_DTYPE_FLOAT64,
                                 RF_DTYPE_BYTES4, RF_DTYPE_COMPLEX64, RF_DTYPE_COMPLEX128, RF_DTYPE_BOOL};
  if (scalar_type >= 0 && scalar_type < static_cast<int32_t>(sizeof kTypes / sizeof *kTypes))
    return kTypes[scalar_type];
  switch (scalar_type) {
    case 15:
      return RF_DTYPE_BFLOAT16;
    case 23:
      return RF_DTYPE_FLOAT8_E5M2;
    case 24:
      return RF_DTYPE_FLOAT8_E4M3;
    case 27:
      return RF_DTYPE_UINT16;
    case 28:
      return RF_DTYPE_UINT32;
    case 29:
      return RF_DTYPE_UINT64;
    default:
      return RF_DTYPE_OTHER;
  }
}

inline rf_reduce_op reduce_op_of(uint8_t op) {
  constexpr rf_reduce_op kOps[] = {RF_REDUCE_SUM, RF_REDUCE_AVG,  RF_REDUCE_PROD, RF_REDUCE_MIN,
                                   RF_REDUCE_MAX, RF_REDUCE_BAND, RF_REDUCE_BOR,  RF_REDUCE_BXOR};
  return op < sizeof kOps / sizeof *kOps ? kOps[op] : RF_REDUCE_OTHER;
}

}  // namespace rankfault::gloo_decoder::layout

#endif  // RANKFAULT_BACKENDS_GLOO_TORCH_LAYOUT_H
