/* neighbors.c: the collectives over the neighbours of a process topology. */
#include "counts.h"
#include "shapes.h"

#define TYPE MPI_Datatype
#define EQUAL(n, t) ((struct rf_shares){.count = n, .type = t})
#define EACH(n, t) ((struct rf_shares){.counts = COUNTS(n), .type = t})
#define EACH_OF_ITS_TYPE(n, t) ((struct rf_shares){.counts = COUNTS(n), .type = RF_NO_HANDLE, .types = t})

/* All forms: blocking, nonblocking, prepared (`i` are hints). `change` is what an action may change. */
#define NEIGHBOR(Name, OP, parameters, sent, owed, change, ...)                                \
  int WRAP(MPI_Neighbor_##Name)(parameters, MPI_Comm c) {                                      \
    struct rf_call call;                                                                       \
    rf_neighbor_exchange(&call, OP, c, sent, owed, WHERE);                                     \
    RF_RETURN_CALL(&call, c, (change, NEXT(MPI_Neighbor_##Name)(__VA_ARGS__, c)));             \
  }                                                                                            \
  int WRAP(MPI_Ineighbor_##Name)(parameters, MPI_Comm c, MPI_Request * q) {                    \
    struct rf_call call;                                                                       \
    rf_neighbor_exchange(&call, OP, c, sent, owed, WHERE);                                     \
    RF_RETURN_ENQUEUED(&call, c, q, (change, NEXT(MPI_Ineighbor_##Name)(__VA_ARGS__, c, q)));  \
  }                                                                                            \
  RF_PERSISTENT(Neighbor_##Name##_init, (parameters, MPI_Comm c, MPI_Info i, MPI_Request * q), \
                rf_neighbor_exchange(&call, OP, c, sent, owed, WHERE), (__VA_ARGS__, c, i, q))
#define P(...) __VA_ARGS__
#define CHANGED(n, t) rf_apply_change(&call, n, t, NULL, NULL)

NEIGHBOR(allgather, RF_OP_NEIGHBOR_ALL_GATHER,
         P(const void* s, rf_count sn, TYPE st, void* r, rf_count rn, TYPE rt), EQUAL(sn, st), EQUAL(rn, rt),
         CHANGED(&sn, &st), s, sn, st, r, rn, rt)
NEIGHBOR(allgatherv, RF_OP_NEIGHBOR_ALL_GATHERV,
         P(const void* s, rf_count sn, TYPE st, void* r, const rf_count* rn, const rf_displacement* rd,
           TYPE rt),
         EQUAL(sn, st), EACH(rn, rt), CHANGED(&sn, &st), s, sn, st, r, rn, rd, rt)
NEIGHBOR(alltoall, RF_OP_NEIGHBOR_ALL_TO_ALL,
         P(const void* s, rf_count sn, TYPE st, void* r, rf_count rn, TYPE rt), EQUAL(sn, st), EQUAL(rn, rt),
         CHANGED(&sn, &st), s, sn, st, r, rn, rt)
NEIGHBOR(alltoallv, RF_OP_NEIGHBOR_ALL_TO_ALLV,
         P(const void* s, const rf_count* sn, const rf_displacement* sd, TYPE st, void* r, const rf_count* rn,
           const rf_displacement* rd, TYPE rt),
         EACH(sn, st), EACH(rn, rt), (void)0, s, sn, sd, st, r, rn, rd, rt)
NEIGHBOR(alltoallw, RF_OP_NEIGHBOR_ALL_TO_ALLW,
         P(const void* s, const rf_count* sn, const intptr_t* sd, const TYPE* st, void* r, const rf_count* rn,
           const intptr_t* rd, const TYPE* rt),
         EACH_OF_ITS_TYPE(sn, st), EACH_OF_ITS_TYPE(rn, rt), (void)0, s, sn, sd, st, r, rn, rd, rt)
