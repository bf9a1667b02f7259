/* fortran_collectives.c: barrier, broadcast and the reductions from Fortran. */
#include "fortran.h"
#include "shapes.h"

static void f_barrier(FROM, fint* comm, fint* error) {
  const MPI_Comm c = rf_comm_f2c(*comm);
  struct rf_call call;
  rf_call_on(&call, RF_OP_BARRIER, c, where);
  MAKE(&call, c, GO(next)(comm, e));
}
NAMES(barrier, (fint * comm, fint* error), (comm, error))

static void f_ibarrier(FROM, fint* comm, fint* q, fint* error) {
  const MPI_Comm c = rf_comm_f2c(*comm);
  struct rf_call call;
  rf_call_on(&call, RF_OP_BARRIER, c, where);
  ENQUEUE(&call, c, q, GO(next)(comm, q, e));
}
NAMES(ibarrier, (fint * comm, fint* q, fint* error), (comm, q, error))

static void f_barrier_init(FROM, fint* comm, fint* info, fint* q, fint* error) {
  const MPI_Comm c = rf_comm_f2c(*comm);
  struct rf_call call;
  rf_call_on(&call, RF_OP_BARRIER, c, where);
  PREPARE(&call, c, q, GO(next)(comm, info, q, e));
}
NAMES_OF(mpi, barrier_init, (fint * comm, fint* info, fint* q, fint* error), (comm, info, q, error))
NAMES_OF(mpix, barrier_init, (fint * comm, fint* info, fint* q, fint* error), (comm, info, q, error))

COLLECTIVE(bcast, P(void* b, fint* n, fint* t, fint* root), P(b, n, t, root), CHANGEABLE(*n, *t, *root, 0),
           rf_rooted(&call, RF_OP_BROADCAST, c, *n, TYPE(t), *root, where), P(b, &a.count, &a.type, &a.root))
COLLECTIVE(reduce, P(void* s, void* r, fint* n, fint* t, fint* o, fint* root), P(s, r, n, t, o, root),
           CHANGEABLE(*n, *t, *root, *o),
           rf_rooted_reduction(&call, BUFFER(s), *n, TYPE(t), OP(o), *root, c, where),
           P(s, r, &a.count, &a.type, &a.op, &a.root))

#define REDUCTION(name, shape)                                                       \
  COLLECTIVE(name, P(void* s, void* r, fint* n, fint* t, fint* o), P(s, r, n, t, o), \
             CHANGEABLE(*n, *t, 0, *o), shape, P(s, r, &a.count, &a.type, &a.op))
REDUCTION(allreduce, rf_reduction(&call, RF_OP_ALL_REDUCE, c, BUFFER(s), *n, TYPE(t), OP(o), where))
REDUCTION(scan, rf_reduction(&call, RF_OP_SCAN, c, BUFFER(s), *n, TYPE(t), OP(o), where))
REDUCTION(exscan, rf_reduction(&call, RF_OP_EXSCAN, c, BUFFER(s), *n, TYPE(t), OP(o), where))
REDUCTION(reduce_scatter_block, rf_block_reduction(&call, BUFFER(s), *n, TYPE(t), OP(o), c, where))
COLLECTIVE(reduce_scatter, P(void* s, void* r, fint* n, fint* t, fint* o), P(s, r, n, t, o),
           CHANGEABLE(0, *t, 0, *o),
           rf_scattered_reduction(&call, BUFFER(s), RF_INTS(n), TYPE(t), OP(o), c, where),
           P(s, r, n, &a.type, &a.op))
