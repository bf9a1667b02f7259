/* collectives.c: barrier, broadcast and the reductions, blocking and not. */
#include "decoder.h"
#include "shapes.h"

static void set_elements(struct rf_call* call, int count, MPI_Datatype type) {
  const struct rf_elements elements = rf_elements(count, type);
  call->count = elements.count;
  call->dtype = elements.dtype;
}

void rf_rooted(struct rf_call* call, uint16_t op, MPI_Comm comm, int count, MPI_Datatype type, int root,
               const void* where) {
  rf_call_on(call, op, comm, where);
  set_elements(call, count, type);
  call->peer = root;
}

void rf_reduction(struct rf_call* call, uint16_t op, MPI_Comm comm, const void* send, int count,
                  MPI_Datatype type, MPI_Op how, const void* where) {
  rf_call_on(call, op, comm, where);
  set_elements(call, count, type);
  call->reduce_op = rf_reduce_op(how);
  if (send == RF_MPI_IN_PLACE) call->flags |= RF_CALL_IN_PLACE;
}

void rf_rooted_reduction(struct rf_call* call, const void* send, int count, MPI_Datatype type, MPI_Op how,
                         int root, MPI_Comm comm, const void* where) {
  rf_reduction(call, RF_OP_REDUCE, comm, send, count, type, how, where);
  call->peer = root;
}

/* The count is the whole vector, which all ranks must agree on; the own share may be nothing. */
void rf_scattered_reduction(struct rf_call* call, const void* send, const int* counts, MPI_Datatype type,
                            MPI_Op how, MPI_Comm comm, const void* where) {
  rf_reduction(call, RF_OP_REDUCE_SCATTER, comm, send, 0, type, how, where);
  const struct rf_comm* const on = call->comm == RF_NO_COMM ? NULL : rf_core->comm_get(call->comm);
  if (!on || !counts || on->flags & RF_COMM_INTER) {
    call->flags |= RF_CALL_COUNT_UNKNOWN;
    return;
  }
  int total = 0;
  for (uint32_t r = 0; r < on->size; ++r) total += counts[r];
  set_elements(call, total, type);
  if (on->rank >= 0 && rf_bytes(counts[on->rank], type) == 0) call->flags |= RF_CALL_OWN_SHARE_0;
}

void rf_block_reduction(struct rf_call* call, const void* send, int count, MPI_Datatype type, MPI_Op how,
                        MPI_Comm comm, const void* where) {
  rf_reduction(call, RF_OP_REDUCE_SCATTER_BLOCK, comm, send, count, type, how, where);
  if (rf_bytes(count, type) == 0) call->flags |= RF_CALL_OWN_SHARE_0;
}

#define CHANGED(count, type, root, op) rf_apply_change(&call, count, type, root, op)

int wrap_MPI_Barrier(MPI_Comm c) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_BARRIER, c, WHERE);
  RF_RETURN_CALL(&call, c, NEXT(MPI_Barrier)(c));
}
int wrap_MPI_Ibarrier(MPI_Comm c, MPI_Request* q) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_BARRIER, c, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q, NEXT(MPI_Ibarrier)(c, q));
}

int wrap_MPI_Bcast(void* b, int n, MPI_Datatype t, int root, MPI_Comm c) {
  struct rf_call call;
  rf_rooted(&call, RF_OP_BROADCAST, c, n, t, root, WHERE);
  RF_RETURN_CALL(&call, c, (CHANGED(&n, &t, &root, NULL), NEXT(MPI_Bcast)(b, n, t, root, c)));
}
int wrap_MPI_Ibcast(void* b, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request* q) {
  struct rf_call call;
  rf_rooted(&call, RF_OP_BROADCAST, c, n, t, root, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q, (CHANGED(&n, &t, &root, NULL), NEXT(MPI_Ibcast)(b, n, t, root, c, q)));
}

int wrap_MPI_Reduce(const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c) {
  struct rf_call call;
  rf_rooted_reduction(&call, s, n, t, o, root, c, WHERE);
  RF_RETURN_CALL(&call, c, (CHANGED(&n, &t, &root, &o), NEXT(MPI_Reduce)(s, r, n, t, o, root, c)));
}
int wrap_MPI_Ireduce(const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c,
                     MPI_Request* q) {
  struct rf_call call;
  rf_rooted_reduction(&call, s, n, t, o, root, c, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q, (CHANGED(&n, &t, &root, &o), NEXT(MPI_Ireduce)(s, r, n, t, o, root, c, q)));
}

/* All-reduce, scan and exscan have one signature. */
#define REDUCTION(Name, OP)                                                                    \
  int wrap_MPI_##Name(const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c) {   \
    struct rf_call call;                                                                       \
    rf_reduction(&call, OP, c, s, n, t, o, WHERE);                                             \
    RF_RETURN_CALL(&call, c, (CHANGED(&n, &t, NULL, &o), NEXT(MPI_##Name)(s, r, n, t, o, c))); \
  }
#define REDUCTION_NONBLOCKING(Name, OP)                                                                      \
  int wrap_MPI_##Name(const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* q) { \
    struct rf_call call;                                                                                     \
    rf_reduction(&call, OP, c, s, n, t, o, WHERE);                                                           \
    RF_RETURN_ENQUEUED(&call, c, q, (CHANGED(&n, &t, NULL, &o), NEXT(MPI_##Name)(s, r, n, t, o, c, q)));     \
  }
REDUCTION(Allreduce, RF_OP_ALL_REDUCE)
REDUCTION(Scan, RF_OP_SCAN)
REDUCTION(Exscan, RF_OP_EXSCAN)
REDUCTION_NONBLOCKING(Iallreduce, RF_OP_ALL_REDUCE)
REDUCTION_NONBLOCKING(Iscan, RF_OP_SCAN)
REDUCTION_NONBLOCKING(Iexscan, RF_OP_EXSCAN)

int wrap_MPI_Reduce_scatter(const void* s, void* r, const int n[], MPI_Datatype t, MPI_Op o, MPI_Comm c) {
  struct rf_call call;
  rf_scattered_reduction(&call, s, n, t, o, c, WHERE);
  RF_RETURN_CALL(&call, c, (CHANGED(NULL, &t, NULL, &o), NEXT(MPI_Reduce_scatter)(s, r, n, t, o, c)));
}
int wrap_MPI_Ireduce_scatter(const void* s, void* r, const int n[], MPI_Datatype t, MPI_Op o, MPI_Comm c,
                             MPI_Request* q) {
  struct rf_call call;
  rf_scattered_reduction(&call, s, n, t, o, c, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q,
                     (CHANGED(NULL, &t, NULL, &o), NEXT(MPI_Ireduce_scatter)(s, r, n, t, o, c, q)));
}
int wrap_MPI_Reduce_scatter_block(const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c) {
  struct rf_call call;
  rf_block_reduction(&call, s, n, t, o, c, WHERE);
  RF_RETURN_CALL(&call, c, (CHANGED(&n, &t, NULL, &o), NEXT(MPI_Reduce_scatter_block)(s, r, n, t, o, c)));
}
int wrap_MPI_Ireduce_scatter_block(const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c,
                                   MPI_Request* q) {
  struct rf_call call;
  rf_block_reduction(&call, s, n, t, o, c, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q,
                     (CHANGED(&n, &t, NULL, &o), NEXT(MPI_Ireduce_scatter_block)(s, r, n, t, o, c, q)));
}

/* Prepared: `i` are hints. */
RF_PERSISTENT(Barrier_init, (MPI_Comm c, MPI_Info i, MPI_Request* q),
              rf_call_on(&call, RF_OP_BARRIER, c, WHERE), (c, i, q))
RF_PERSISTENT(Bcast_init, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Info i, MPI_Request* q),
              rf_rooted(&call, RF_OP_BROADCAST, c, n, t, root, WHERE), (b, n, t, root, c, i, q))
RF_PERSISTENT(Reduce_init,
              (const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c, MPI_Info i,
               MPI_Request* q),
              rf_rooted_reduction(&call, s, n, t, o, root, c, WHERE), (s, r, n, t, o, root, c, i, q))
RF_PERSISTENT(Reduce_scatter_init,
              (const void* s, void* r, const int n[], MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Info i,
               MPI_Request* q),
              rf_scattered_reduction(&call, s, n, t, o, c, WHERE), (s, r, n, t, o, c, i, q))
#define REDUCTION_ARGS \
  const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Info i, MPI_Request *q
RF_PERSISTENT(Allreduce_init, (REDUCTION_ARGS), rf_reduction(&call, RF_OP_ALL_REDUCE, c, s, n, t, o, WHERE),
              (s, r, n, t, o, c, i, q))
RF_PERSISTENT(Scan_init, (REDUCTION_ARGS), rf_reduction(&call, RF_OP_SCAN, c, s, n, t, o, WHERE),
              (s, r, n, t, o, c, i, q))
RF_PERSISTENT(Exscan_init, (REDUCTION_ARGS), rf_reduction(&call, RF_OP_EXSCAN, c, s, n, t, o, WHERE),
              (s, r, n, t, o, c, i, q))
RF_PERSISTENT(Reduce_scatter_block_init, (REDUCTION_ARGS), rf_block_reduction(&call, s, n, t, o, c, WHERE),
              (s, r, n, t, o, c, i, q))
