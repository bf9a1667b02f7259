/* persistent.c: messages and collectives that are prepared once and started many times; each start is a call.
 *
 * Preparing a collective takes a place in its communicator's order (MPI 4.0, 6.13: like nonblocking
 * collectives). The requests may then start in any order, which may differ between ranks: only the starts of
 * one request belong together. So each request has its own order. */
#include "decoder.h"

static int prepared(int rc, MPI_Request request, struct rf_call call, uint32_t on) {
  if (rf_outcome(rc) != RF_MPI_SUCCESS) return rc;
  call.flags |= RF_CALL_PERSISTENT | RF_CALL_NONBLOCKING;
  if (rf_request_is_over(request)) return rc;
  struct rf_request* const entry = rf_request_track(request, &call);
  if (!entry) return rc;
  entry->origin = 0;
  entry->persistent = 1;
  entry->prepared_on = on;
  entry->start = call;
  return rc;
}

int rf_prepared_message(int rc, MPI_Request request, const struct rf_call* call) {
  return prepared(rc, request, *call, call->comm);
}

int rf_prepared(struct rf_call* making, const struct rf_call* call, enum rf_verdict verdict,
                MPI_Request* request, int rc) {
  if (verdict != RF_DO_FORWARD) *request = rf_mpi.request_null;
  if (verdict == RF_DO_FORWARD && rf_outcome(rc) == RF_MPI_SUCCESS && making->outermost) {
    struct rf_call started = *call;
    started.comm = rf_stream_made(*request, making->comm, making->seq);
    if (started.comm != RF_NO_COMM) prepared(rc, *request, started, making->comm);
  }
  return rf_core->end(making, rc);
}

int rf_started(struct rf_request* entry, struct rf_call* call, enum rf_verdict verdict, int rc) {
  if (verdict != RF_DO_FORWARD || rf_outcome(rc) != RF_MPI_SUCCESS)
    return rf_core->end(call, rc); /* stays inactive */
  if (call->outermost) {
    entry->origin = RF_ORIGIN(call->lane, call->number);
    entry->seq = rf_place_of(call);
  }
  rf_core->end_enqueued(call, rc);
  return rc;
}

static int start(MPI_Request* request, const void* where, int (*next)(MPI_Request*)) {
  if (rf_is_again(where)) return next(request);
  struct rf_request* const entry = rf_request_find(*request);
  if (!entry || !entry->persistent) {
    rf_core->opaque(RF_OPAQUE_COMMUNICATION);
    return next(request);
  }
  struct rf_call call = entry->start;
  call.where = where;
  const enum rf_verdict verdict = rf_core->begin(&call);
  struct rf_unwind_guard guard __attribute__((cleanup(rf_close_on_unwind))) = {&call};
  if (verdict == RF_DO_FORWARD) rf_tell_owed(&call);
  const int rc = verdict == RF_DO_FORWARD ? next(request) : rf_not_made(&call, RF_NO_HANDLE, verdict);
  guard.call = NULL;
  return rf_started(entry, &call, verdict, rc);
}

int wrap_MPI_Start(MPI_Request* request) { return start(request, WHERE, NEXT(MPI_Start)); }

int rf_can_start(MPI_Request request) {
  const struct rf_request* const entry = rf_request_find(request);
  return entry && entry->persistent && entry->origin == 0;
}

/* Writes one record for each request, as if the program had started them one by one. The library itself
 * starts none if one cannot start. */
int wrap_MPI_Startall(int count, MPI_Request requests[]) {
  int (*const start_one)(MPI_Request*) = (int (*)(MPI_Request*))rf_core->resolve("MPI_Start");
  int known = start_one && requests;
  for (int i = 0; known && i < count; ++i) known = rf_can_start(requests[i]);
  if (!known) {
    rf_core->opaque(RF_OPAQUE_COMMUNICATION);
    return NEXT(MPI_Startall)(count, requests);
  }
  for (int i = 0; i < count; ++i) {
    const int rc = start(&requests[i], WHERE, start_one);
    if (rf_outcome(rc) != RF_MPI_SUCCESS) return rc;
  }
  return RF_MPI_SUCCESS;
}
