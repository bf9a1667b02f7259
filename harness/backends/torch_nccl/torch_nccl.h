// torch_nccl.h: what the files about PyTorch's process group over NCCL share. They are a part of the decoder
// torch_gloo, which knows the version of PyTorch.
#ifndef RANKFAULT_BACKENDS_TORCH_NCCL_TORCH_NCCL_H
#define RANKFAULT_BACKENDS_TORCH_NCCL_TORCH_NCCL_H

#include <atomic>

#include "harness/backends/gloo/recorded_call.h"
#include "harness/backends/torch_nccl/completed_work.h"

namespace rankfault::torch_nccl {

// A process group over NCCL in this process.
struct Group {
  std::atomic<const void*> process_group{nullptr};
  std::atomic<int> last_pass{0};  // of autograd
  rf_group shown{};               // what the core sees
  char name[64] = "";
};

// groups.cc. Null: made before the decoder was loaded, or there are too many groups.
Group* group_of(const void* process_group);

// find_completed_work.cc. Loads the module of this version of PyTorch at the first question. Null, with a
// reason: there is none, or it does not load.
completed_work::Make find_completed_work(const char** reason);

// Tables of the files; each ends with an empty entry.
extern const rf_wrapper kGroupWrappers[], kCallWrappers[];

}  // namespace rankfault::torch_nccl

#endif  // RANKFAULT_BACKENDS_TORCH_NCCL_TORCH_NCCL_H
