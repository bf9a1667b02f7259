/* fortran_exchanges.c: gather, scatter and all-to-all from Fortran. Of all-to-all with a type each nothing is
 * decoded: it passes through as opaque. */
#include "fortran.h"
#include "shapes.h"

#define TYPE(t) rf_type_f2c(*(t))
#define BUFFER(b) rf_fortran_buffer(b)

#define BLOCKS P(void* s, fint* sn, fint* st, void* r, fint* rn, fint* rt)
COLLECTIVE(allgather, BLOCKS, P(s, sn, st, r, rn, rt), CHANGEABLE(*sn, *st, 0, 0),
           rf_block(RF_OP_ALL_GATHER, c, BUFFER(s), *sn, TYPE(st), *rn, TYPE(rt), where),
           P(s, &a.count, &a.type, r, rn, rt))
COLLECTIVE(alltoall, BLOCKS, P(s, sn, st, r, rn, rt), CHANGEABLE(*sn, *st, 0, 0),
           rf_block(RF_OP_ALL_TO_ALL, c, BUFFER(s), *sn, TYPE(st), *rn, TYPE(rt), where),
           P(s, &a.count, &a.type, r, rn, rt))
COLLECTIVE(gather, P(void* s, fint* sn, fint* st, void* r, fint* rn, fint* rt, fint* root),
           P(s, sn, st, r, rn, rt, root), CHANGEABLE(*sn, *st, *root, 0),
           rf_gather(RF_OP_GATHER, c, BUFFER(s), *sn, TYPE(st), *rn, TYPE(rt), NULL, *root, where),
           P(s, &a.count, &a.type, r, rn, rt, &a.root))
COLLECTIVE(scatter, P(void* s, fint* sn, fint* st, void* r, fint* rn, fint* rt, fint* root),
           P(s, sn, st, r, rn, rt, root), CHANGEABLE(*rn, *rt, *root, 0),
           rf_scatter(RF_OP_SCATTER, c, *sn, TYPE(st), NULL, BUFFER(r), *rn, TYPE(rt), *root, where),
           P(s, sn, st, r, &a.count, &a.type, &a.root))

COLLECTIVE(allgatherv, P(void* s, fint* sn, fint* st, void* r, fint* rn, fint* rd, fint* rt),
           P(s, sn, st, r, rn, rd, rt), CHANGEABLE(*sn, *st, 0, 0),
           rf_blocks(RF_OP_ALL_GATHERV, c, BUFFER(s), *sn, TYPE(st), rn, TYPE(rt), where),
           P(s, &a.count, &a.type, r, rn, rd, rt))
COLLECTIVE(gatherv, P(void* s, fint* sn, fint* st, void* r, fint* rn, fint* rd, fint* rt, fint* root),
           P(s, sn, st, r, rn, rd, rt, root), CHANGEABLE(*sn, *st, *root, 0),
           rf_gather(RF_OP_GATHERV, c, BUFFER(s), *sn, TYPE(st), 0, TYPE(rt), rn, *root, where),
           P(s, &a.count, &a.type, r, rn, rd, rt, &a.root))
COLLECTIVE(scatterv, P(void* s, fint* sn, fint* sd, fint* st, void* r, fint* rn, fint* rt, fint* root),
           P(s, sn, sd, st, r, rn, rt, root), CHANGEABLE(*rn, *rt, *root, 0),
           rf_scatter(RF_OP_SCATTERV, c, 0, TYPE(st), sn, BUFFER(r), *rn, TYPE(rt), *root, where),
           P(s, sn, sd, st, r, &a.count, &a.type, &a.root))
COLLECTIVE(alltoallv, P(void* s, fint* sn, fint* sd, fint* st, void* r, fint* rn, fint* rd, fint* rt),
           P(s, sn, sd, st, r, rn, rd, rt), CHANGEABLE(0, *st, 0, 0),
           rf_all_to_all(RF_OP_ALL_TO_ALLV, c, BUFFER(s), sn, TYPE(st), rn, TYPE(rt), NULL, where),
           P(s, sn, sd, st, r, rn, rd, rt))
