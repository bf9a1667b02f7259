/* fortran_matched.c: matched probes from Fortran, recorded as for C (matched.c). */
#include "fortran.h"

#define PROBE_ARGS fint *source, fint *tag, fint *comm

static void f_mprobe(FROM, PROBE_ARGS, fint* message, void* status, fint* error) {
  struct rf_fortran_arguments a = {0, 0, *source, 0};
  const MPI_Comm c = rf_comm_f2c(*comm);
  struct rf_call call;
  rf_message(&call, RF_OP_RECV, 0, RF_NO_HANDLE, *source, *tag, c, where);
  call.flags |= RF_CALL_COUNT_UNKNOWN;
  MAKE(&call, c, rf_fortran_change(&call, &a); GO(next)(&a.root, tag, comm, message, status, e));
  if (call.verdict != RF_DO_FORWARD) *message = rf_message_c2f(rf_mpi.message_no_proc);
}
NAMES(mprobe, (PROBE_ARGS, fint* message, void* status, fint* error),
      (source, tag, comm, message, status, error))

/* A poll is recorded only once it took a message: then it is a receive that did not wait. The status shows
 * which of several senders it was, but its Fortran form differs between the modules: so the source stays
 * "any". */
static void f_improbe(FROM, PROBE_ARGS, fint* flag, fint* message, void* status, fint* error) {
  const fint rc = FORWARDED(GO(next)(source, tag, comm, flag, message, status, e));
  rf_polled(rc, *flag);
  if (rc != RF_MPI_SUCCESS || !*flag) return;
  const MPI_Comm c = rf_comm_f2c(*comm);
  struct rf_call call;
  rf_message(&call, RF_OP_RECV, 0, RF_NO_HANDLE, *source, *tag, c, where);
  call.flags |= RF_CALL_COUNT_UNKNOWN;
  MAKE(&call, c, (void)e);
  if (call.verdict == RF_DO_FORWARD) return;
  *message = rf_message_c2f(rf_mpi.message_no_proc); /* no call fetches it then */
  if (call.verdict == RF_DO_FAIL) *flag = 0;
}
NAMES(improbe, (PROBE_ARGS, fint* flag, fint* message, void* status, fint* error),
      (source, tag, comm, flag, message, status, error))

static void f_mrecv(FROM, void* b, fint* n, fint* t, fint* message, void* status, fint* error) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_WAIT, RF_NO_HANDLE, where);
  call.pending_count = 1; /* for an unknown message */
  MAKE(&call, rf_mpi.world, GO(next)(b, n, t, message, status, e));
}
NAMES(mrecv, (void* b, fint* n, fint* t, fint* message, void* status, fint* error),
      (b, n, t, message, status, error))

/* The request is in no table: a wait for it waits for something unknown. */
static void f_imrecv(FROM, void* b, fint* n, fint* t, fint* message, fint* q, fint* error) {
  GO(next)(b, n, t, message, q, error);
}
NAMES(imrecv, (void* b, fint* n, fint* t, fint* message, fint* q, fint* error), (b, n, t, message, q, error))
