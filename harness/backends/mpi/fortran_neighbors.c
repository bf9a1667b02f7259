/* fortran_neighbors.c: collectives over the neighbours of a process topology, from Fortran. The form with a
 * type for each neighbour is not decoded: it passes through as opaque. */
#include "fortran.h"
#include "shapes.h"

#define EQUAL(n, t) ((struct rf_shares){.count = *(n), .type = TYPE(t)})
#define EACH(n, t) ((struct rf_shares){.counts = RF_INTS(n), .type = TYPE(t)})
#define SHAPE(OP, sent, owed) rf_neighbor_exchange(&call, OP, c, sent, owed, where)

#define BLOCKS P(void* s, fint* sn, fint* st, void* r, fint* rn, fint* rt)
COLLECTIVE(neighbor_allgather, BLOCKS, P(s, sn, st, r, rn, rt), CHANGEABLE(*sn, *st, 0, 0),
           SHAPE(RF_OP_NEIGHBOR_ALL_GATHER, EQUAL(sn, st), EQUAL(rn, rt)), P(s, &a.count, &a.type, r, rn, rt))
COLLECTIVE(neighbor_alltoall, BLOCKS, P(s, sn, st, r, rn, rt), CHANGEABLE(*sn, *st, 0, 0),
           SHAPE(RF_OP_NEIGHBOR_ALL_TO_ALL, EQUAL(sn, st), EQUAL(rn, rt)), P(s, &a.count, &a.type, r, rn, rt))
COLLECTIVE(neighbor_allgatherv, P(void* s, fint* sn, fint* st, void* r, fint* rn, fint* rd, fint* rt),
           P(s, sn, st, r, rn, rd, rt), CHANGEABLE(*sn, *st, 0, 0),
           SHAPE(RF_OP_NEIGHBOR_ALL_GATHERV, EQUAL(sn, st), EACH(rn, rt)),
           P(s, &a.count, &a.type, r, rn, rd, rt))
COLLECTIVE(neighbor_alltoallv,
           P(void* s, fint* sn, fint* sd, fint* st, void* r, fint* rn, fint* rd, fint* rt),
           P(s, sn, sd, st, r, rn, rd, rt), CHANGEABLE(0, *st, 0, 0),
           SHAPE(RF_OP_NEIGHBOR_ALL_TO_ALLV, EACH(sn, st), EACH(rn, rt)), P(s, sn, sd, st, r, rn, rd, rt))
