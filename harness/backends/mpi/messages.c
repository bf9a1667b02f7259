/* messages.c: point to point: blocking, nonblocking and prepared. */
#include "counts.h"

#define CHANGED(count, type, peer) rf_apply_change(&call, count, type, peer, NULL)
#define SEND_ARGS const void *b, rf_count n, MPI_Datatype t, int dest, int tag, MPI_Comm c

#define SEND(Name, OP, flag)                                                                     \
  int WRAP(MPI_##Name)(SEND_ARGS) {                                                              \
    struct rf_call call;                                                                         \
    rf_message(&call, OP, n, t, dest, tag, c, WHERE);                                            \
    call.flags |= flag;                                                                          \
    RF_RETURN_CALL(&call, c, (CHANGED(&n, &t, &dest), NEXT(MPI_##Name)(b, n, t, dest, tag, c))); \
  }
#define SEND_NONBLOCKING(Name, OP, flag)                                                                   \
  int WRAP(MPI_##Name)(SEND_ARGS, MPI_Request * q) {                                                       \
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

int WRAP(MPI_Recv)(void* b, rf_count n, MPI_Datatype t, int source, int tag, MPI_Comm c,
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

int WRAP(MPI_Irecv)(void* b, rf_count n, MPI_Datatype t, int source, int tag, MPI_Comm c, MPI_Request* q) {
  struct rf_call call;
  rf_message(&call, RF_OP_RECV, n, t, source, tag, c, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q, (CHANGED(&n, &t, &source), NEXT(MPI_Irecv)(b, n, t, source, tag, c, q)));
}

/* Returns when all buffered messages have left: it waits for unknown messages. */
int WRAP(MPI_Buffer_detach)(void* b, rf_count* bytes) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_WAIT, RF_NO_HANDLE, WHERE);
  call.pending_count = 1;
  RF_RETURN_CALL(&call, rf_mpi.world, NEXT(MPI_Buffer_detach)(b, bytes));
}

#ifndef RF_LARGE_COUNTS /* it has no count */
int wrap_MPI_Buffer_flush(void) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_WAIT, RF_NO_HANDLE, WHERE);
  call.pending_count = 1;
  RF_RETURN_CALL(&call, rf_mpi.world, NEXT(MPI_Buffer_flush)());
}
#endif

int WRAP(MPI_Sendrecv)(const void* s, rf_count sn, MPI_Datatype st, int dest, int stag, void* r, rf_count rn,
                       MPI_Datatype rt, int source, int rtag, MPI_Comm c, struct rf_mpi_status* status) {
  struct rf_call call;
  rf_both_ways(&call, sn, st, dest, stag, source, rtag, c, WHERE);
  const enum rf_verdict verdict = rf_core->begin(&call);
  struct rf_unwind_guard guard __attribute__((cleanup(rf_close_on_unwind))) = {&call};
  int rc = RF_MPI_SUCCESS;
  if (verdict == RF_DO_FORWARD) {
    rf_core->detail(&call, rf_peer_of(source), rf_elements(rn, rt).count, rtag, 0);
    CHANGED(&sn, &st, &dest);
    rc = NEXT(MPI_Sendrecv)(s, sn, st, dest, stag, r, rn, rt, source, rtag, c, status);
  } else {
    rc = rf_not_made(&call, c, verdict);
    rf_empty_if_skipped(&call, status);
  }
  guard.call = NULL;
  return rf_core->end(&call, rc);
}

int WRAP(MPI_Sendrecv_replace)(void* b, rf_count n, MPI_Datatype t, int dest, int stag, int source, int rtag,
                               MPI_Comm c, struct rf_mpi_status* status) {
  struct rf_call call;
  rf_both_ways(&call, n, t, dest, stag, source, rtag, c, WHERE);
  const enum rf_verdict verdict = rf_core->begin(&call);
  struct rf_unwind_guard guard __attribute__((cleanup(rf_close_on_unwind))) = {&call};
  int rc = RF_MPI_SUCCESS;
  if (verdict == RF_DO_FORWARD) {
    rf_core->detail(&call, rf_peer_of(source), call.count, rtag, 0);
    CHANGED(&n, &t, &dest);
    rc = NEXT(MPI_Sendrecv_replace)(b, n, t, dest, stag, source, rtag, c, status);
  } else {
    rc = rf_not_made(&call, c, verdict);
    rf_empty_if_skipped(&call, status);
  }
  guard.call = NULL;
  return rf_core->end(&call, rc);
}

int WRAP(MPI_Mrecv)(void* b, rf_count n, MPI_Datatype t, MPI_Message* message, struct rf_mpi_status* status) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_WAIT, RF_NO_HANDLE, WHERE);
  call.pending_count = 1; /* for an unknown message */
  RF_RETURN_CALL(&call, rf_mpi.world, NEXT(MPI_Mrecv)(b, n, t, message, status));
}

/* The request is in no table: a wait for it waits for something unknown. */
int WRAP(MPI_Imrecv)(void* b, rf_count n, MPI_Datatype t, MPI_Message* message, MPI_Request* q) {
  return NEXT(MPI_Imrecv)(b, n, t, message, q);
}

#define PREPARE_SEND(Name, OP, flag)                                                             \
  int WRAP(MPI_##Name)(const void* b, rf_count n, MPI_Datatype t, int dest, int tag, MPI_Comm c, \
                       MPI_Request* q) {                                                         \
    rf_forget_error();                                                                           \
    const int rc = NEXT(MPI_##Name)(b, n, t, dest, tag, c, q);                                   \
    if (rf_is_again(WHERE)) return rc;                                                           \
    struct rf_call call;                                                                         \
    rf_message(&call, OP, n, t, dest, tag, c, NULL);                                             \
    call.flags |= flag;                                                                          \
    return rf_prepared_message(rc, *q, &call);                                                   \
  }
PREPARE_SEND(Send_init, RF_OP_SEND, 0)
PREPARE_SEND(Bsend_init, RF_OP_SEND, RF_CALL_BUFFERED)
PREPARE_SEND(Rsend_init, RF_OP_SEND, 0)
PREPARE_SEND(Ssend_init, RF_OP_SSEND, 0)

int WRAP(MPI_Recv_init)(void* b, rf_count n, MPI_Datatype t, int source, int tag, MPI_Comm c,
                        MPI_Request* q) {
  rf_forget_error();
  const int rc = NEXT(MPI_Recv_init)(b, n, t, source, tag, c, q);
  if (rf_is_again(WHERE)) return rc;
  struct rf_call call;
  rf_message(&call, RF_OP_RECV, n, t, source, tag, c, NULL);
  return rf_prepared_message(rc, *q, &call);
}
