/* points.h: CUDA calls at which an action may act, from any caller: allocations, launches, queries.
 *
 * Programs and NCCL make too many of them to record each one, so they are recorded only while an action waits
 * for them. */
#ifndef RANKFAULT_NCCL_POINTS_H
#define RANKFAULT_NCCL_POINTS_H

#include "decoder.h"

typedef int rf_driver_result; /* CUresult: 0 is success; errors have the same numbers as in the runtime */

struct rf_device_point {
  struct rf_call call;
  char path[96]; /* caller and callee: "nccl:cudaMalloc", "program:cudaLaunchKernel" */
};

/* `bytes`: of an allocation, else 0. Returns true if the call must be made. */
int rf_point_begin(struct rf_device_point*, uint16_t op, const char* name, uint64_t bytes, const void* where);
/* Returns the result of a call that an action makes fail. The runtime also returns it as the last error. */
int rf_point_failed(struct rf_device_point*, const char* name);

#define RF_DEVICE_POINT(type, op, name, bytes, forward)                              \
  do {                                                                               \
    struct rf_device_point point_;                                                   \
    if (!rf_core->inner_armed(op)) return forward;                                   \
    const int make_ = rf_point_begin(&point_, (op), (name), (bytes), WHERE);         \
    const type result_ = make_ ? (forward) : (type)rf_point_failed(&point_, (name)); \
    rf_core->inner_end(&point_.call, (int)result_);                                  \
    return result_;                                                                  \
  } while (0)

#endif /* RANKFAULT_NCCL_POINTS_H */
