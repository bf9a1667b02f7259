/* collective_shapes.c: reads the arguments of a broadcast or a reduction. */
#include "shapes.h"

void rf_set_elements(struct rf_call* call, int64_t count, MPI_Datatype type) {
  const struct rf_elements elements = rf_elements(count, type);
  call->count = elements.count;
  call->dtype = elements.dtype;
}

void rf_rooted(struct rf_call* call, uint16_t op, MPI_Comm comm, int64_t count, MPI_Datatype type, int root,
               const void* where) {
  rf_call_on(call, op, comm, where);
  rf_set_elements(call, count, type);
  call->peer = root;
}

void rf_reduction(struct rf_call* call, uint16_t op, MPI_Comm comm, const void* send, int64_t count,
                  MPI_Datatype type, MPI_Op how, const void* where) {
  rf_call_on(call, op, comm, where);
  rf_set_elements(call, count, type);
  call->reduce_op = rf_reduce_op(how);
  if (send == RF_MPI_IN_PLACE) call->flags |= RF_CALL_IN_PLACE;
}

void rf_rooted_reduction(struct rf_call* call, const void* send, int64_t count, MPI_Datatype type, MPI_Op how,
                         int root, MPI_Comm comm, const void* where) {
  rf_reduction(call, RF_OP_REDUCE, comm, send, count, type, how, where);
  call->peer = root;
}

/* The count is the whole vector, on which all ranks must agree; the own share may be empty. */
void rf_scattered_reduction(struct rf_call* call, const void* send, struct rf_counts counts,
                            MPI_Datatype type, MPI_Op how, MPI_Comm comm, const void* where) {
  rf_reduction(call, RF_OP_REDUCE_SCATTER, comm, send, 0, type, how, where);
  const struct rf_comm* const on = call->comm == RF_NO_COMM ? NULL : rf_core->comm_get(call->comm);
  if (!on || !rf_has_counts(counts) || on->flags & RF_COMM_INTER) {
    call->flags |= RF_CALL_COUNT_UNKNOWN;
    return;
  }
  int64_t total = 0;
  for (uint32_t r = 0; r < on->size; ++r) total += rf_count_of(counts, r);
  rf_set_elements(call, total, type);
  if (on->rank >= 0 && rf_bytes(rf_count_of(counts, (uint32_t)on->rank), type) == 0)
    call->flags |= RF_CALL_OWN_SHARE_0;
}

void rf_block_reduction(struct rf_call* call, const void* send, int64_t count, MPI_Datatype type, MPI_Op how,
                        MPI_Comm comm, const void* where) {
  rf_reduction(call, RF_OP_REDUCE_SCATTER_BLOCK, comm, send, count, type, how, where);
  if (rf_bytes(count, type) == 0) call->flags |= RF_CALL_OWN_SHARE_0;
}
