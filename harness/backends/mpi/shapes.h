/* shapes.h: what the arguments of a collective say, before an action has changed any: one for C's names and
 * Fortran's. Those over a vector and the reductions are in collectives.c, the exchanges in exchanges.c and
 * neighbors.c. */
#ifndef RANKFAULT_MPI_SHAPES_H
#define RANKFAULT_MPI_SHAPES_H

#include "decoder.h"

void rf_rooted(struct rf_call* call, uint16_t op, MPI_Comm comm, int count, MPI_Datatype type, int root,
               const void* where);
void rf_reduction(struct rf_call* call, uint16_t op, MPI_Comm comm, const void* send, int count,
                  MPI_Datatype type, MPI_Op how, const void* where);
void rf_rooted_reduction(struct rf_call* call, const void* send, int count, MPI_Datatype type, MPI_Op how,
                         int root, MPI_Comm comm, const void* where);
void rf_scattered_reduction(struct rf_call* call, const void* send, const int* counts, MPI_Datatype type,
                            MPI_Op how, MPI_Comm comm, const void* where);
void rf_block_reduction(struct rf_call* call, const void* send, int count, MPI_Datatype type, MPI_Op how,
                        MPI_Comm comm, const void* where);

/* s, sn, st: buffer, count and type of what is sent; r, rn, rt: of what is received; counts of the v-forms
 * are null in the others */
void rf_block(struct rf_call* call, uint16_t op, MPI_Comm c, const void* s, int sn, MPI_Datatype st, int rn,
              MPI_Datatype rt, const void* where);
void rf_blocks(struct rf_call* call, uint16_t op, MPI_Comm c, const void* s, int sn, MPI_Datatype st,
               const int* rn, MPI_Datatype rt, const void* where);
void rf_all_to_all(struct rf_call* call, uint16_t op, MPI_Comm c, const void* s, const int* sn,
                   MPI_Datatype st, const int* rn, MPI_Datatype rt, const MPI_Datatype* rts,
                   const void* where);
void rf_gather(struct rf_call* call, uint16_t op, MPI_Comm c, const void* s, int sn, MPI_Datatype st, int rn,
               MPI_Datatype rt, const int* rns, int root, const void* where);
void rf_scatter(struct rf_call* call, uint16_t op, MPI_Comm c, int sn, MPI_Datatype st, const int* sns,
                const void* r, int rn, MPI_Datatype rt, int root, const void* where);

struct rf_shares { /* of each neighbour: one count of one type, or counts, or counts and types */
  int count;
  const int* counts;
  MPI_Datatype type;
  const MPI_Datatype* types;
};
void rf_neighbor_exchange(struct rf_call* call, uint16_t op, MPI_Comm c, struct rf_shares sent,
                          struct rf_shares owed, const void* where);

#endif /* RANKFAULT_MPI_SHAPES_H */
