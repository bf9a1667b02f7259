/* fortran_exchanges.c: gather, scatter and all-to-all from Fortran. */
#include "fortran.h"
#include "shapes.h"

#define BLOCKS P(void* s, fint* sn, fint* st, void* r, fint* rn, fint* rt)
COLLECTIVE(allgather, BLOCKS, P(s, sn, st, r, rn, rt), CHANGEABLE(*sn, *st, 0, 0),
           rf_block(&call, RF_OP_ALL_GATHER, c, BUFFER(s), *sn, TYPE(st), *rn, TYPE(rt), where),
           P(s, &a.count, &a.type, r, rn, rt))
COLLECTIVE(alltoall, BLOCKS, P(s, sn, st, r, rn, rt), CHANGEABLE(*sn, *st, 0, 0),
           rf_block(&call, RF_OP_ALL_TO_ALL, c, BUFFER(s), *sn, TYPE(st), *rn, TYPE(rt), where),
           P(s, &a.count, &a.type, r, rn, rt))
COLLECTIVE(gather, P(void* s, fint* sn, fint* st, void* r, fint* rn, fint* rt, fint* root),
           P(s, sn, st, r, rn, rt, root), CHANGEABLE(*sn, *st, *root, 0),
           rf_gather(&call, RF_OP_GATHER, c, BUFFER(s), *sn, TYPE(st), *rn, TYPE(rt), RF_NO_COUNTS, *root,
                     where),
           P(s, &a.count, &a.type, r, rn, rt, &a.root))
COLLECTIVE(scatter, P(void* s, fint* sn, fint* st, void* r, fint* rn, fint* rt, fint* root),
           P(s, sn, st, r, rn, rt, root), CHANGEABLE(*rn, *rt, *root, 0),
           rf_scatter(&call, RF_OP_SCATTER, c, *sn, TYPE(st), RF_NO_COUNTS, BUFFER(r), *rn, TYPE(rt), *root,
                      where),
           P(s, sn, st, r, &a.count, &a.type, &a.root))

COLLECTIVE(allgatherv, P(void* s, fint* sn, fint* st, void* r, fint* rn, fint* rd, fint* rt),
           P(s, sn, st, r, rn, rd, rt), CHANGEABLE(*sn, *st, 0, 0),
           rf_blocks(&call, RF_OP_ALL_GATHERV, c, BUFFER(s), *sn, TYPE(st), RF_INTS(rn), TYPE(rt), where),
           P(s, &a.count, &a.type, r, rn, rd, rt))
COLLECTIVE(gatherv, P(void* s, fint* sn, fint* st, void* r, fint* rn, fint* rd, fint* rt, fint* root),
           P(s, sn, st, r, rn, rd, rt, root), CHANGEABLE(*sn, *st, *root, 0),
           rf_gather(&call, RF_OP_GATHERV, c, BUFFER(s), *sn, TYPE(st), 0, TYPE(rt), RF_INTS(rn), *root,
                     where),
           P(s, &a.count, &a.type, r, rn, rd, rt, &a.root))
COLLECTIVE(scatterv, P(void* s, fint* sn, fint* sd, fint* st, void* r, fint* rn, fint* rt, fint* root),
           P(s, sn, sd, st, r, rn, rt, root), CHANGEABLE(*rn, *rt, *root, 0),
           rf_scatter(&call, RF_OP_SCATTERV, c, 0, TYPE(st), RF_INTS(sn), BUFFER(r), *rn, TYPE(rt), *root,
                      where),
           P(s, sn, sd, st, r, &a.count, &a.type, &a.root))
COLLECTIVE(alltoallv, P(void* s, fint* sn, fint* sd, fint* st, void* r, fint* rn, fint* rd, fint* rt),
           P(s, sn, sd, st, r, rn, rd, rt), CHANGEABLE(0, *st, 0, 0),
           rf_all_to_all(&call, RF_OP_ALL_TO_ALLV, c, BUFFER(s), RF_INTS(sn), TYPE(st), RF_INTS(rn), TYPE(rt),
                         NULL, where),
           P(s, sn, sd, st, r, rn, rd, rt))

/* With a type for each rank: the received data decides which ranks are needed, so its types are read (as for
 * C, exchanges.c). */
#define TYPED P(void* s, fint* sn, fint* sd, fint* st, void* r, fint* rn, fint* rd, fint* rt)
#define RECEIVED_TYPES                                                           \
  struct rf_fortran_types types __attribute__((cleanup(rf_fortran_types_drop))); \
  rf_fortran_types(&types, c, rt)
#define TYPED_SHAPE                                                                             \
  rf_all_to_all(&call, RF_OP_ALL_TO_ALLW, c, BUFFER(s), RF_INTS(sn), RF_NO_HANDLE, RF_INTS(rn), \
                RF_NO_HANDLE, types.all, where)

static void f_alltoallw(FROM, TYPED, fint* comm, fint* error) {
  const MPI_Comm c = rf_comm_f2c(*comm);
  RECEIVED_TYPES;
  struct rf_call call;
  TYPED_SHAPE;
  MAKE(&call, c, GO(next)(s, sn, sd, st, r, rn, rd, rt, comm, e));
}
NAMES(alltoallw, (TYPED, fint* comm, fint* error), (s, sn, sd, st, r, rn, rd, rt, comm, error))

static void f_ialltoallw(FROM, TYPED, fint* comm, fint* q, fint* error) {
  const MPI_Comm c = rf_comm_f2c(*comm);
  RECEIVED_TYPES;
  struct rf_call call;
  TYPED_SHAPE;
  ENQUEUE(&call, c, q, GO(next)(s, sn, sd, st, r, rn, rd, rt, comm, q, e));
}
NAMES(ialltoallw, (TYPED, fint* comm, fint* q, fint* error), (s, sn, sd, st, r, rn, rd, rt, comm, q, error))

static void f_alltoallw_init(FROM, TYPED, fint* comm, fint* info, fint* q, fint* error) {
  const MPI_Comm c = rf_comm_f2c(*comm);
  RECEIVED_TYPES;
  struct rf_call call;
  TYPED_SHAPE;
  PREPARE(&call, c, q, GO(next)(s, sn, sd, st, r, rn, rd, rt, comm, info, q, e));
}
NAMES_OF(mpi, alltoallw_init, (TYPED, fint* comm, fint* info, fint* q, fint* error),
         (s, sn, sd, st, r, rn, rd, rt, comm, info, q, error))
NAMES_OF(mpix, alltoallw_init, (TYPED, fint* comm, fint* info, fint* q, fint* error),
         (s, sn, sd, st, r, rn, rd, rt, comm, info, q, error))
