/* wrapper.c: what every wrapper does if an action replaces or changes the call. */
#include "decoder.h"

/* A C call inside a call of MPI. If the library's Fortran binding made it, it is the same call again and
 * passes through. Any other comes from a callback of the program and has no record (record.c:
 * note_nested). */
int rf_is_again(const void* where) {
  if (rf_core->in_call() == 0) return 0;
  if (rf_from_binding(where)) return 1;
  struct rf_call inner;
  rf_call_on(&inner, RF_OP_WAIT, RF_NO_HANDLE, where);
  rf_core->begin(&inner); /* informs the core, which records nothing of it */
  rf_core->end(&inner, RF_MPI_SUCCESS);
  return 1;
}

/* The program's error handler decides what an error means (MPI_ERRORS_ARE_FATAL ends the job here). */
int rf_not_made(struct rf_call* call, MPI_Comm comm, enum rf_verdict verdict) {
  if (verdict == RF_DO_SKIP) return RF_MPI_SUCCESS;
  const int code = call->fail_code > 0 ? call->fail_code : RF_MPI_ERR_OTHER;
  rf_mpi.comm_call_errhandler(comm ? comm : rf_mpi.world, code);
  return code;
}

void rf_apply_other_change(const struct rf_call* call, MPI_Datatype* type, int* root, MPI_Op* op) {
  if (call->changed == RF_ARG_DTYPE && type && rf_type_handle((uint8_t)call->changed_to))
    *type = rf_type_handle((uint8_t)call->changed_to);
  if ((call->changed == RF_ARG_ROOT || call->changed == RF_ARG_PEER) && root) *root = (int)call->changed_to;
  if (call->changed == RF_ARG_REDUCE_OP && op && rf_op_handle((uint8_t)call->changed_to))
    *op = rf_op_handle((uint8_t)call->changed_to);
}

/* A skipped nonblocking call returns the request that the library itself gives for MPI_PROC_NULL: complete,
 * with an empty status. MPI_REQUEST_NULL would be wrong: Waitany and Waitsome ignore it, so a program that
 * counts completions would see one too few and fail because of the agent. */
int rf_enqueued(struct rf_call* call, MPI_Comm comm, enum rf_verdict verdict, MPI_Request* request, int rc) {
  if (verdict == RF_DO_SKIP) {
    *request = rf_request_that_is_over();
    return rf_core->end(call, RF_MPI_SUCCESS);
  }
  if (verdict == RF_DO_FAIL) {
    *request = rf_mpi.request_null;
    return rf_core->end(call, rf_not_made(call, comm, verdict));
  }
  if (rf_outcome(rc) != RF_MPI_SUCCESS) return rf_core->end(call, rc);
  rf_core->end_enqueued(call, rc);
  if (call->outermost) rf_request_track(*request, call);
  return rc;
}
