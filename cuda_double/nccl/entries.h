// entries.h: how the model replaces a public function of NCCL, under both of its names.
#pragma once

#include <nccl.h>

#include "cuda_double/model/batch.h"

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

namespace cuda_double {

inline bool accepted(ncclResult_t r) { return r == ncclSuccess || r == ncclInProgress; }

// The communicator of a handle, with known rank and page. Null: not ready, or not made through an entry of
// this library.
CommunicatorPtr ready_communicator(ncclComm_t handle);
// The same without a call to NCCL.
CommunicatorPtr known_communicator(ncclComm_t handle);
// Registers the communicators made in a group, after NCCL has stored their handles.
void adopt_communicators();

}  // namespace cuda_double
