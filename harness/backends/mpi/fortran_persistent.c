/* fortran_persistent.c: messages that are prepared once and started many times, and their starts, from
 * Fortran. */
#include "fortran.h"

#define MESSAGE_ARGS fint *n, fint *t, fint *peer, fint *tag, fint *comm, fint *q

#define PREPARE_MESSAGE(name, OP, flag)                                        \
  static void f_##name(FROM, void* b, MESSAGE_ARGS, fint* error) {             \
    const fint rc = FORWARDED(GO(next)(b, n, t, peer, tag, comm, q, e));       \
    struct rf_call call;                                                       \
    rf_message(&call, OP, *n, TYPE(t), *peer, *tag, rf_comm_f2c(*comm), NULL); \
    call.flags |= flag;                                                        \
    rf_prepared_message(rc, rf_request_f2c(*q), &call);                        \
  }                                                                            \
  NAMES(name, (void* b, MESSAGE_ARGS, fint* error), (b, n, t, peer, tag, comm, q, error))
PREPARE_MESSAGE(send_init, RF_OP_SEND, 0)
PREPARE_MESSAGE(bsend_init, RF_OP_SEND, RF_CALL_BUFFERED)
PREPARE_MESSAGE(rsend_init, RF_OP_SEND, 0)
PREPARE_MESSAGE(ssend_init, RF_OP_SSEND, 0)
PREPARE_MESSAGE(recv_init, RF_OP_RECV, 0)

static void f_start(FROM, fint* q, fint* error) {
  struct rf_request* const entry = rf_request_find(rf_request_f2c(*q));
  if (!entry || !entry->persistent) {
    rf_core->opaque(RF_OPAQUE_COMMUNICATION);
    GO(next)(q, error);
    return;
  }
  struct rf_call call = entry->start;
  call.where = where;
  fint own_error = RF_MPI_SUCCESS;
  fint* const e = error ? error : &own_error;
  const enum rf_verdict verdict = rf_core->begin(&call);
  struct rf_unwind_guard guard __attribute__((cleanup(rf_close_on_unwind))) = {&call};
  if (verdict == RF_DO_FORWARD) {
    rf_tell_owed(&call);
    GO(next)(q, e);
  } else {
    *e = rf_not_made(&call, RF_NO_HANDLE, verdict);
  }
  guard.call = NULL;
  rf_started(entry, &call, verdict, *e);
}
NAMES(start, (fint * q, fint* error), (q, error))

/* Writes one record for each request, as if the program had started them one by one. */
static void f_startall(FROM, fint* n, fint* q, fint* error) {
  void* const start_one = rf_core->resolve("mpi_start_");
  int known = start_one != NULL;
  for (fint i = 0; known && i < *n; ++i) known = rf_can_start(rf_request_f2c(q[i]));
  if (!known) {
    rf_core->opaque(RF_OPAQUE_COMMUNICATION);
    GO(next)(n, q, error);
    return;
  }
  fint rc = RF_MPI_SUCCESS;
  for (fint i = 0; i < *n && rf_outcome(rc) == RF_MPI_SUCCESS; ++i)
    f_start(start_one, where, module, &q[i], &rc);
  if (error) *error = rc;
}
NAMES(startall, (fint * n, fint* q, fint* error), (n, q, error))
