// torch_version.h: which PyTorch this process has, and what of it the decoder reads differently by version.
#ifndef RANKFAULT_BACKENDS_GLOO_TORCH_VERSION_H
#define RANKFAULT_BACKENDS_GLOO_TORCH_VERSION_H

#include <cstdint>

#include "harness/agent/core.h"

namespace rankfault::gloo_decoder {

// Offsets of members. They follow from the size of intrusive_ptr_target, which begins every counted object of
// PyTorch.
struct TorchOffsets {
  uint16_t enum_of_reduce_op;  // ReduceOp leads the options of each reduction
  uint16_t root_of_reduce_options;
  uint16_t timeout_of_group_options;
  uint16_t prefix_of_prefix_store;  // the store that it wraps follows
};

// Null: this version is not known, so nothing of it is touched. `version`: rf_torch_version().
const TorchOffsets* offsets_of(uint32_t version);

// Finds the version of the PyTorch in this process and all functions that the decoder calls. False, with a
// reason: the decoder must not serve.
bool find_torch(const rf_core_v1* table, const char** reason);

struct FoundTorch {
  uint32_t version = 0;
  char release[16] = "";  // "2.12.1": without the build
  const TorchOffsets* offsets = nullptr;
};
extern FoundTorch torch;

// The offset of the member that a function of one instruction returns; 0: it does more, or is not understood.
uint32_t offset_of_getter(uint64_t (*getter)(void*));

// torch.distributed gives each group a PrefixStore.
bool is_prefix_store(const void* store);

}  // namespace rankfault::gloo_decoder

#endif  // RANKFAULT_BACKENDS_GLOO_TORCH_VERSION_H
