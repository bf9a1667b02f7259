/* decoder.h: declarations that the files of the NCCL decoder share. */
#ifndef RANKFAULT_NCCL_DECODER_H
#define RANKFAULT_NCCL_DECODER_H

#include <nccl.h>

#include "harness/agent/core.h"

extern const struct rf_core_v1* rf_core;

#define WHERE __builtin_return_address(0)
#define NEXT(name) ((__typeof__(&wrap_##name))next_##name)

/* A non-blocking communicator returns "in progress" for calls that it has accepted. */
static inline int rf_accepted(ncclResult_t rc) { return rc == ncclSuccess || rc == ncclInProgress; }

struct rf_call rf_call_on(uint16_t op, ncclComm_t comm, const void* where);
void rf_set_elements(struct rf_call* call, size_t count, ncclDataType_t type);
/* Returns the result of a call that is not made. */
ncclResult_t rf_not_made(const struct rf_call* call, enum rf_verdict verdict);

/* comms.c */
void rf_comms_resolve(void); /* after the outermost group end: handles created inside the group */

/* groups.c: depth of the calling thread in ncclGroupStart */
int rf_group_depth(void);

/* Returns the CUDA device of a communicator, given by its index; -1 unknown. */
int rf_comm_device(uint32_t comm);
/* Whether its host calls put an operation on its stream before they return (or before their group's end
 * returns). */
int rf_comm_is_blocking(uint32_t comm);

/* streams.c: the operations enqueued on each stream; streams.h has the queries. */
enum rf_enqueued_how {
  RF_ENQUEUED_NOW,
  RF_ENQUEUED_AT_GROUP_END,
  RF_ENQUEUED_LATER /* accepted by a non-blocking communicator */
};
enum rf_group_result { RF_GROUP_LAUNCHED, RF_GROUP_ACCEPTED, RF_GROUP_REFUSED };
/* Returns a number that identifies a stream of a device in the record of an operation. It changes if the
 * handle may belong to another stream by now; 0 if the stream is unknown. */
int32_t rf_stream_number(cudaStream_t stream, int device);
void rf_stream_enqueued(cudaStream_t stream, const struct rf_call* call, enum rf_enqueued_how how);
/* For the calling thread. Refused operations are recorded as failed: they have no place in the library's
 * order. */
void rf_stream_group_ended(enum rf_group_result result, ncclResult_t rc);
/* A non-blocking communicator had nothing in progress at `before` (rf_stream_position): all operations that
 * it accepted before then are on their streams. */
void rf_stream_idle(uint32_t comm, uint64_t before);
void rf_stream_failed(uint32_t comm, ncclResult_t rc); /* or it had failed, together with those operations */
uint64_t rf_stream_position(void);
/* Before a communicator is aborted or revoked: its operations leave their streams without being complete. */
void rf_stream_forget(uint32_t comm);

#define RF_WRAPPED(name) extern void* next_##name;
#include "wrapped.def"
#undef RF_WRAPPED

#endif /* RANKFAULT_NCCL_DECODER_H */
