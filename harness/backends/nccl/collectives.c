/* collectives.c: puts operations on streams. A return of the call means enqueued, never complete. */
#include "decoder.h"

struct rf_unwind_guard {
  struct rf_call* call;
};
static inline void close_on_unwind(struct rf_unwind_guard* guard) {
  if (guard->call) rf_core->end(guard->call, RF_RESULT_THROWN);
}

/* The tag is the operation's stream. On a non-blocking communicator, the order on the stream is not the order
 * of the calls. */
static struct rf_call operation(uint16_t op, size_t count, ncclDataType_t type, ncclComm_t comm,
                                cudaStream_t stream, const void* where) {
  struct rf_call call = rf_call_on(op, comm, where);
  rf_set_elements(&call, count, type);
  if (rf_comm_is_blocking(call.comm)) call.tag = rf_stream_number(stream, rf_comm_device(call.comm));
  call.flags |= RF_CALL_NONBLOCKING;
  return call;
}

static uint8_t reduce_op(ncclRedOp_t op) {
  static const uint8_t kOps[] = {[ncclSum] = RF_REDUCE_SUM,
                                 [ncclProd] = RF_REDUCE_PROD,
                                 [ncclMax] = RF_REDUCE_MAX,
                                 [ncclMin] = RF_REDUCE_MIN,
                                 [4] = RF_REDUCE_AVG};
  return (size_t)op < sizeof(kOps) ? kOps[op] : RF_REDUCE_OTHER;
}

/* Returns a type of the decoder's table for a changed argument; else the previous one. */
static ncclDataType_t type_for(uint64_t dtype, ncclDataType_t before) {
  for (int t = 0; t < 12; ++t) {
    struct rf_call probe = {.count = 0};
    rf_set_elements(&probe, 1, (ncclDataType_t)t);
    if (probe.dtype == dtype) return (ncclDataType_t)t;
  }
  return before;
}

static void change(const struct rf_call* call, size_t* count, ncclDataType_t* type, int* peer,
                   ncclRedOp_t* op) {
  if (call->changed == RF_ARG_COUNT) *count = call->changed_to;
  if (call->changed == RF_ARG_DTYPE) *type = type_for(call->changed_to, *type);
  if ((call->changed == RF_ARG_ROOT || call->changed == RF_ARG_PEER) && peer) *peer = (int)call->changed_to;
  for (int o = 0; call->changed == RF_ARG_REDUCE_OP && op && o <= 4; ++o)
    if (reduce_op((ncclRedOp_t)o) == call->changed_to) *op = (ncclRedOp_t)o;
}

/* In a non-blocking communicator "in progress" means accepted: the operation reaches the stream later. */
static ncclResult_t enqueued(struct rf_call* call, cudaStream_t stream, enum rf_verdict verdict,
                             ncclResult_t rc) {
  if (verdict != RF_DO_FORWARD || !rf_accepted(rc)) {
    rf_core->end(call, (int)rc);
    return rc;
  }
  rf_core->end_enqueued(call, 0);
  if (call->outermost)
    rf_stream_enqueued(stream, call,
                       rf_group_depth() > 0 ? RF_ENQUEUED_AT_GROUP_END
                       : rc == ncclSuccess  ? RF_ENQUEUED_NOW
                                            : RF_ENQUEUED_LATER);
  return rc;
}

#define RF_RETURN_ENQUEUED(call_, stream_, change_, forward)                                       \
  do {                                                                                             \
    const enum rf_verdict verdict_ = rf_core->begin(call_);                                        \
    struct rf_unwind_guard guard_ __attribute__((cleanup(close_on_unwind))) = {call_};             \
    change_;                                                                                       \
    const ncclResult_t rc_ = verdict_ == RF_DO_FORWARD ? (forward) : rf_not_made(call_, verdict_); \
    guard_.call = NULL;                                                                            \
    return enqueued(call_, stream_, verdict_, rc_);                                                \
  } while (0)

#define SEND_RECEIVE const void *s, void *r, size_t n, ncclDataType_t t

ncclResult_t wrap_ncclAllReduce(SEND_RECEIVE, ncclRedOp_t o, ncclComm_t c, cudaStream_t stream) {
  struct rf_call call = operation(RF_OP_ALL_REDUCE, n, t, c, stream, WHERE);
  call.reduce_op = reduce_op(o);
  if (s == r) call.flags |= RF_CALL_IN_PLACE;
  RF_RETURN_ENQUEUED(&call, stream, change(&call, &n, &t, NULL, &o),
                     NEXT(ncclAllReduce)(s, r, n, t, o, c, stream));
}

ncclResult_t wrap_ncclReduce(SEND_RECEIVE, ncclRedOp_t o, int root, ncclComm_t c, cudaStream_t stream) {
  struct rf_call call = operation(RF_OP_REDUCE, n, t, c, stream, WHERE);
  call.reduce_op = reduce_op(o);
  call.peer = root;
  RF_RETURN_ENQUEUED(&call, stream, change(&call, &n, &t, &root, &o),
                     NEXT(ncclReduce)(s, r, n, t, o, root, c, stream));
}

ncclResult_t wrap_ncclBcast(void* b, size_t n, ncclDataType_t t, int root, ncclComm_t c,
                            cudaStream_t stream) {
  struct rf_call call = operation(RF_OP_BROADCAST, n, t, c, stream, WHERE);
  call.peer = root;
  call.flags |= RF_CALL_IN_PLACE;
  RF_RETURN_ENQUEUED(&call, stream, change(&call, &n, &t, &root, NULL),
                     NEXT(ncclBcast)(b, n, t, root, c, stream));
}

ncclResult_t wrap_ncclReduceScatter(SEND_RECEIVE, ncclRedOp_t o, ncclComm_t c, cudaStream_t stream) {
  struct rf_call call = operation(RF_OP_REDUCE_SCATTER, n, t, c, stream, WHERE);
  call.reduce_op = reduce_op(o);
  RF_RETURN_ENQUEUED(&call, stream, change(&call, &n, &t, NULL, &o),
                     NEXT(ncclReduceScatter)(s, r, n, t, o, c, stream));
}

/* Three operations have a root and share one signature; gather and scatter are new in NCCL 2.28. */
#define ROOTED(Name, OP)                                                                    \
  ncclResult_t wrap_nccl##Name(SEND_RECEIVE, int root, ncclComm_t c, cudaStream_t stream) { \
    struct rf_call call = operation(OP, n, t, c, stream, WHERE);                            \
    call.peer = root;                                                                       \
    RF_RETURN_ENQUEUED(&call, stream, change(&call, &n, &t, &root, NULL),                   \
                       NEXT(nccl##Name)(s, r, n, t, root, c, stream));                      \
  }
ROOTED(Broadcast, RF_OP_BROADCAST)
ROOTED(Gather, RF_OP_GATHER)
ROOTED(Scatter, RF_OP_SCATTER)

/* The count is one rank's share. */
#define SHARES(Name, OP)                                                          \
  ncclResult_t wrap_nccl##Name(SEND_RECEIVE, ncclComm_t c, cudaStream_t stream) { \
    struct rf_call call = operation(OP, n, t, c, stream, WHERE);                  \
    RF_RETURN_ENQUEUED(&call, stream, change(&call, &n, &t, NULL, NULL),          \
                       NEXT(nccl##Name)(s, r, n, t, c, stream));                  \
  }
SHARES(AllGather, RF_OP_ALL_GATHER)
SHARES(AlltoAll, RF_OP_ALL_TO_ALL)

ncclResult_t wrap_ncclSend(const void* b, size_t n, ncclDataType_t t, int peer, ncclComm_t c,
                           cudaStream_t stream) {
  struct rf_call call = operation(RF_OP_SEND, n, t, c, stream, WHERE);
  call.peer = peer;
  RF_RETURN_ENQUEUED(&call, stream, change(&call, &n, &t, &peer, NULL),
                     NEXT(ncclSend)(b, n, t, peer, c, stream));
}

ncclResult_t wrap_ncclRecv(void* b, size_t n, ncclDataType_t t, int peer, ncclComm_t c, cudaStream_t stream) {
  struct rf_call call = operation(RF_OP_RECV, n, t, c, stream, WHERE);
  call.peer = peer;
  RF_RETURN_ENQUEUED(&call, stream, change(&call, &n, &t, &peer, NULL),
                     NEXT(ncclRecv)(b, n, t, peer, c, stream));
}
