/* message_shapes.c: reads the arguments of a message. */
#include "decoder.h"

int32_t rf_peer_of(int rank) {
  if (rank == RF_MPI_PROC_NULL) return RF_PEER_NULL;
  return rank == RF_MPI_ANY_SOURCE ? RF_PEER_ANY : rank;
}

void rf_message(struct rf_call* call, uint16_t op, int64_t count, MPI_Datatype type, int peer, int tag,
                MPI_Comm comm, const void* where) {
  rf_call_on(call, op, comm, where);
  const struct rf_elements elements = rf_elements(count, type);
  call->count = elements.count;
  call->dtype = elements.dtype;
  call->peer = rf_peer_of(peer);
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

void rf_both_ways(struct rf_call* call, int64_t n, MPI_Datatype t, int dest, int stag, int source, int rtag,
                  MPI_Comm c, const void* where) {
  rf_message(call, RF_OP_SENDRECV, n, t, dest, stag, c, where);
  call->recv_peer = rf_peer_of(source);
  if (source == RF_MPI_ANY_SOURCE) call->flags |= RF_CALL_ANY_SOURCE;
  if (rtag == RF_MPI_ANY_TAG) call->flags |= RF_CALL_ANY_TAG;
}
