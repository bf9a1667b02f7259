/* decoder.h: what the files of the NCCL decoder share. */
#ifndef RANKFAULT_NCCL_DECODER_H
#define RANKFAULT_NCCL_DECODER_H

#include <nccl.h>

#include "harness/agent/core.h"

extern const struct rf_core_v1* rf_core;

#define WHERE __builtin_return_address(0)
#define NEXT(name) ((__typeof__(&wrap_##name))next_##name)

/* A non-blocking communicator answers "in progress" to what it has accepted. */
static inline int rf_accepted(ncclResult_t rc) { return rc == ncclSuccess || rc == ncclInProgress; }

struct rf_call rf_call_on(uint16_t op, ncclComm_t comm, const void* where);
void rf_set_elements(struct rf_call* call, size_t count, ncclDataType_t type);
/* What stands in the place of a call that is not made. */
ncclResult_t rf_not_made(const struct rf_call* call, enum rf_verdict verdict);

/* comms.c */
void rf_comms_resolve(void); /* after the outermost group end: handles made inside the group */

/* groups.c: how deep the calling thread is in ncclGroupStart */
int rf_group_depth(void);

/* The CUDA device that a communicator, by its index, was made on; -1 unknown. */
int rf_comm_device(uint32_t comm);
/* Whether its host calls put an operation on its stream before they return (or before their group's end
 * does). */
int rf_comm_is_blocking(uint32_t comm);

/* streams.c: what was enqueued on which stream; the questions about it are in streams.h. */
enum rf_enqueued_how {
  RF_ENQUEUED_NOW,
  RF_ENQUEUED_AT_GROUP_END,
  RF_ENQUEUED_LATER /* accepted by a non-blocking communicator */
};
enum rf_group_result { RF_GROUP_LAUNCHED, RF_GROUP_ACCEPTED, RF_GROUP_REFUSED };
/* What tells the streams of a device apart in the record of an operation: another one where the handle may be
 * that of another stream since; 0 where it is not known which stream it is. */
int32_t rf_stream_number(cudaStream_t stream, int device);
void rf_stream_enqueued(cudaStream_t stream, const struct rf_call* call, enum rf_enqueued_how how);
/* Of the calling thread. What was refused is recorded as failed: it has no place in the library's order. */
void rf_stream_group_ended(enum rf_group_result result, ncclResult_t rc);
/* A non-blocking communicator had nothing in progress any more at `before` (rf_stream_position): what it had
 * accepted until then is on its streams. */
void rf_stream_idle(uint32_t comm, uint64_t before);
void rf_stream_failed(uint32_t comm, ncclResult_t rc); /* or it had failed with what it had accepted */
uint64_t rf_stream_position(void);
/* Before a communicator is aborted or revoked: its operations leave their streams without being complete. */
void rf_stream_forget(uint32_t comm);

#define RF_WRAPPED(name) extern void* next_##name;
#include "wrapped.def"
#undef RF_WRAPPED

#endif /* RANKFAULT_NCCL_DECODER_H */
