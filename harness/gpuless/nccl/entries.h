// entries.h: how the model takes over a public function of NCCL, under both of its names.
#pragma once

#include <nccl.h>

#include "harness/gpuless/model/batch.h"

// Defines ncclX and pncclX; in the body, `own` is NCCL's own function of the same name (see
// nccl_build/rename.sh).
#define GPULESS_ENTRY(name, params, ...)                                          \
  extern "C" ncclResult_t own_##name params;                                      \
  extern "C" ncclResult_t own_p##name params;                                     \
  extern "C" __attribute__((visibility("default"))) ncclResult_t name params {    \
    auto own = own_##name;                                                        \
    __VA_ARGS__                                                                   \
  }                                                                               \
  extern "C" __attribute__((visibility("default"))) ncclResult_t p##name params { \
    auto own = own_p##name;                                                       \
    __VA_ARGS__                                                                   \
  }

namespace gpuless {

inline bool accepted(ncclResult_t r) { return r == ncclSuccess || r == ncclInProgress; }

// The communicator of a handle, its rank and page known. Null: not ready, or not made through an entry of
// ours.
CommunicatorPtr ready_communicator(ncclComm_t handle);
// The same without asking NCCL anything.
CommunicatorPtr known_communicator(ncclComm_t handle);
// Takes up those made in a group, now that NCCL has stored their handles.
void adopt_communicators();

}  // namespace gpuless
