/* probes.c: probes, and matched probes. MPI_Mprobe takes a message out of the matching, as a receive does,
 * and MPI_Mrecv only fetches it: so the probe is recorded as the receive (MPI 4.1, 3.8.2).
 *
 * A sender that waits for its receive continues only at the MPI_Mrecv. So the record never says that it needs
 * a receive that was probed. What an MPI_Mrecv, or a wait for an MPI_Imrecv, waits for is unknown. */
#include "counts.h"

int wrap_MPI_Probe(int source, int tag, MPI_Comm c, struct rf_mpi_status* status) {
  struct rf_call call;
  rf_message(&call, RF_OP_PROBE, 0, RF_NO_HANDLE, source, tag, c, WHERE);
  RF_RETURN_CALL(&call, c, NEXT(MPI_Probe)(source, tag, c, status));
}

/* A poll: the lane is running, and one record per poll would push the history out of the ring. */
int wrap_MPI_Iprobe(int source, int tag, MPI_Comm c, int* flag, struct rf_mpi_status* status) {
  rf_forget_error();
  const int rc = NEXT(MPI_Iprobe)(source, tag, c, flag, status);
  return rf_polled(rc, *flag);
}

int wrap_MPI_Mprobe(int source, int tag, MPI_Comm c, MPI_Message* message, struct rf_mpi_status* status) {
  struct rf_call call;
  rf_message(&call, RF_OP_RECV, 0, RF_NO_HANDLE, source, tag, c, WHERE);
  call.flags |= RF_CALL_COUNT_UNKNOWN;
  const enum rf_verdict verdict = rf_core->begin(&call);
  struct rf_unwind_guard guard __attribute__((cleanup(rf_close_on_unwind))) = {&call};
  int rc = RF_MPI_SUCCESS;
  if (verdict == RF_DO_FORWARD) {
    rf_apply_change(&call, NULL, NULL, &source, NULL);
    rc = NEXT(MPI_Mprobe)(source, tag, c, message, status);
  } else {
    rc = rf_not_made(&call, c, verdict);
    *message = rf_mpi.message_no_proc; /* its MPI_Mrecv returns at once with an empty status */
    rf_empty_if_skipped(&call, status);
  }
  guard.call = NULL;
  return rf_core->end(&call, rc);
}

/* A poll is recorded only once it took a message: then it is a receive that did not wait. */
int wrap_MPI_Improbe(int source, int tag, MPI_Comm c, int* flag, MPI_Message* message,
                     struct rf_mpi_status* status) {
  if (rf_is_again(WHERE)) return NEXT(MPI_Improbe)(source, tag, c, flag, message, status);
  struct rf_mpi_status own;
  if (rf_is_no_status(status)) status = &own;
  rf_forget_error();
  const int rc = NEXT(MPI_Improbe)(source, tag, c, flag, message, status);
  rf_polled(rc, *flag);
  if (rf_outcome(rc) != RF_MPI_SUCCESS || !*flag) return rc;
  struct rf_call call;
  rf_message(&call, RF_OP_RECV, 0, RF_NO_HANDLE, status->source, status->tag, c, WHERE);
  call.flags |= RF_CALL_COUNT_UNKNOWN;
  const enum rf_verdict verdict = rf_core->begin(&call);
  if (verdict == RF_DO_FORWARD) return rf_core->end(&call, rc);
  /* No call fetches the message then, as no call receives the message of a skipped or failed receive. */
  *message = rf_mpi.message_no_proc;
  *flag = verdict == RF_DO_SKIP;
  rf_empty_if_skipped(&call, status);
  return rf_core->end(&call, rf_not_made(&call, c, verdict));
}
