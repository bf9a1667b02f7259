/* messages.c: point to point, blocking and not. */
#include "decoder.h"

static int32_t peer_of(int rank) {
  if (rank == RF_MPI_PROC_NULL) return RF_PEER_NULL;
  return rank == RF_MPI_ANY_SOURCE ? RF_PEER_ANY : rank;
}

void rf_message(struct rf_call* call, uint16_t op, int count, MPI_Datatype type, int peer, int tag,
                MPI_Comm comm, const void* where) {
  rf_call_on(call, op, comm, where);
  const struct rf_elements elements = rf_elements(count, type);
  call->count = elements.count;
  call->dtype = elements.dtype;
  call->peer = peer_of(peer);
  call->tag = tag;
  if (op != RF_OP_RECV && op != RF_OP_PROBE) return;
  if (peer == RF_MPI_ANY_SOURCE) call->flags |= RF_CALL_ANY_SOURCE;
  if (tag == RF_MPI_ANY_TAG) call->flags |= RF_CALL_ANY_TAG;
}

/* The standard's empty status. */
int rf_empty_if_skipped(const struct rf_call* call, struct rf_mpi_status* status) {
  if (call->verdict != RF_DO_SKIP || rf_is_no_status(status)) return 0;
  *status = (struct rf_mpi_status){.source = RF_MPI_ANY_SOURCE, .tag = RF_MPI_ANY_TAG};
  return 0;
}

#define CHANGED(count, type, peer) rf_apply_change(&call, count, type, peer, NULL)
#define SEND_ARGS const void *b, int n, MPI_Datatype t, int dest, int tag, MPI_Comm c

#define SEND(Name, OP, flag)                                                                     \
  int wrap_MPI_##Name(SEND_ARGS) {                                                               \
    struct rf_call call;                                                                         \
    rf_message(&call, OP, n, t, dest, tag, c, WHERE);                                            \
    call.flags |= flag;                                                                          \
    RF_RETURN_CALL(&call, c, (CHANGED(&n, &t, &dest), NEXT(MPI_##Name)(b, n, t, dest, tag, c))); \
  }
#define SEND_NONBLOCKING(Name, OP, flag)                                                                   \
  int wrap_MPI_##Name(SEND_ARGS, MPI_Request* q) {                                                         \
    struct rf_call call;                                                                                   \
    rf_message(&call, OP, n, t, dest, tag, c, WHERE);                                                      \
    call.flags |= flag;                                                                                    \
    RF_RETURN_ENQUEUED(&call, c, q, (CHANGED(&n, &t, &dest), NEXT(MPI_##Name)(b, n, t, dest, tag, c, q))); \
  }
SEND(Send, RF_OP_SEND, 0)
SEND(Bsend, RF_OP_SEND, RF_CALL_BUFFERED)
SEND(Rsend, RF_OP_SEND, 0)
SEND(Ssend, RF_OP_SSEND, 0)
SEND_NONBLOCKING(Isend, RF_OP_SEND, 0)
SEND_NONBLOCKING(Ibsend, RF_OP_SEND, RF_CALL_BUFFERED)
SEND_NONBLOCKING(Irsend, RF_OP_SEND, 0)
SEND_NONBLOCKING(Issend, RF_OP_SSEND, 0)

int wrap_MPI_Recv(void* b, int n, MPI_Datatype t, int source, int tag, MPI_Comm c,
                  struct rf_mpi_status* status) {
  struct rf_call call;
  rf_message(&call, RF_OP_RECV, n, t, source, tag, c, WHERE);
  const enum rf_verdict verdict = rf_core->begin(&call);
  struct rf_unwind_guard guard __attribute__((cleanup(rf_close_on_unwind))) = {&call};
  int rc = RF_MPI_SUCCESS;
  if (verdict == RF_DO_FORWARD) {
    CHANGED(&n, &t, &source);
    rc = NEXT(MPI_Recv)(b, n, t, source, tag, c, status);
  } else {
    rc = rf_not_made(&call, c, verdict);
    rf_empty_if_skipped(&call, status);
  }
  guard.call = NULL;
  return rf_core->end(&call, rc);
}

int wrap_MPI_Irecv(void* b, int n, MPI_Datatype t, int source, int tag, MPI_Comm c, MPI_Request* q) {
  struct rf_call call;
  rf_message(&call, RF_OP_RECV, n, t, source, tag, c, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q, (CHANGED(&n, &t, &source), NEXT(MPI_Irecv)(b, n, t, source, tag, c, q)));
}

int wrap_MPI_Probe(int source, int tag, MPI_Comm c, struct rf_mpi_status* status) {
  struct rf_call call;
  rf_message(&call, RF_OP_PROBE, 0, RF_NO_HANDLE, source, tag, c, WHERE);
  RF_RETURN_CALL(&call, c, NEXT(MPI_Probe)(source, tag, c, status));
}

/* Returns when all that it buffered has left: for messages we know no more of. */
int wrap_MPI_Buffer_detach(void* b, int* bytes) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_WAIT, RF_NO_HANDLE, WHERE);
  call.pending_count = 1;
  RF_RETURN_CALL(&call, rf_mpi.world, NEXT(MPI_Buffer_detach)(b, bytes));
}
int wrap_MPI_Buffer_flush(void) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_WAIT, RF_NO_HANDLE, WHERE);
  call.pending_count = 1;
  RF_RETURN_CALL(&call, rf_mpi.world, NEXT(MPI_Buffer_flush)());
}

/* A poll: the lane is running, and a record each would push the history out of the ring. */
int wrap_MPI_Iprobe(int source, int tag, MPI_Comm c, int* flag, struct rf_mpi_status* status) {
  rf_forget_error();
  const int rc = NEXT(MPI_Iprobe)(source, tag, c, flag, status);
  return rf_polled(rc, *flag);
}

void rf_both_ways(struct rf_call* call, int n, MPI_Datatype t, int dest, int stag, int source, int rtag,
                  MPI_Comm c, const void* where) {
  rf_message(call, RF_OP_SENDRECV, n, t, dest, stag, c, where);
  call->recv_peer = peer_of(source);
  if (source == RF_MPI_ANY_SOURCE) call->flags |= RF_CALL_ANY_SOURCE;
  if (rtag == RF_MPI_ANY_TAG) call->flags |= RF_CALL_ANY_TAG;
}

int wrap_MPI_Sendrecv(const void* s, int sn, MPI_Datatype st, int dest, int stag, void* r, int rn,
                      MPI_Datatype rt, int source, int rtag, MPI_Comm c, struct rf_mpi_status* status) {
  struct rf_call call;
  rf_both_ways(&call, sn, st, dest, stag, source, rtag, c, WHERE);
  const enum rf_verdict verdict = rf_core->begin(&call);
  struct rf_unwind_guard guard __attribute__((cleanup(rf_close_on_unwind))) = {&call};
  int rc = RF_MPI_SUCCESS;
  if (verdict == RF_DO_FORWARD) {
    rf_core->detail(&call, peer_of(source), rf_elements(rn, rt).count, rtag, 0);
    CHANGED(&sn, &st, &dest);
    rc = NEXT(MPI_Sendrecv)(s, sn, st, dest, stag, r, rn, rt, source, rtag, c, status);
  } else {
    rc = rf_not_made(&call, c, verdict);
    rf_empty_if_skipped(&call, status);
  }
  guard.call = NULL;
  return rf_core->end(&call, rc);
}

int wrap_MPI_Sendrecv_replace(void* b, int n, MPI_Datatype t, int dest, int stag, int source, int rtag,
                              MPI_Comm c, struct rf_mpi_status* status) {
  struct rf_call call;
  rf_both_ways(&call, n, t, dest, stag, source, rtag, c, WHERE);
  const enum rf_verdict verdict = rf_core->begin(&call);
  struct rf_unwind_guard guard __attribute__((cleanup(rf_close_on_unwind))) = {&call};
  int rc = RF_MPI_SUCCESS;
  if (verdict == RF_DO_FORWARD) {
    rf_core->detail(&call, peer_of(source), call.count, rtag, 0);
    CHANGED(&n, &t, &dest);
    rc = NEXT(MPI_Sendrecv_replace)(b, n, t, dest, stag, source, rtag, c, status);
  } else {
    rc = rf_not_made(&call, c, verdict);
    rf_empty_if_skipped(&call, status);
  }
  guard.call = NULL;
  return rf_core->end(&call, rc);
}
