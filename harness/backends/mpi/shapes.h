/* shapes.h: reads the arguments of a collective before an action changes any. C and Fortran share these
 * functions (collective_shapes.c, exchange_shapes.c, neighbor_shapes.c). */
#ifndef RANKFAULT_MPI_SHAPES_H
#define RANKFAULT_MPI_SHAPES_H

#include "decoder.h"

struct rf_counts { /* a vector of counts of one of two types; both null if the call has none */
  const int* ints;
  const int64_t* large; /* MPI_Count */
};
#define RF_INTS(of) ((struct rf_counts){.ints = (of)})
#define RF_NO_COUNTS ((struct rf_counts){0})
static inline int rf_has_counts(struct rf_counts counts) { return counts.ints || counts.large; }
static inline int64_t rf_count_of(struct rf_counts counts, uint32_t i) {
  return counts.large ? counts.large[i] : counts.ints[i];
}

void rf_set_elements(struct rf_call* call, int64_t count, MPI_Datatype type);
void rf_rooted(struct rf_call* call, uint16_t op, MPI_Comm comm, int64_t count, MPI_Datatype type, int root,
               const void* where);
void rf_reduction(struct rf_call* call, uint16_t op, MPI_Comm comm, const void* send, int64_t count,
                  MPI_Datatype type, MPI_Op how, const void* where);
void rf_rooted_reduction(struct rf_call* call, const void* send, int64_t count, MPI_Datatype type, MPI_Op how,
                         int root, MPI_Comm comm, const void* where);
void rf_scattered_reduction(struct rf_call* call, const void* send, struct rf_counts counts,
                            MPI_Datatype type, MPI_Op how, MPI_Comm comm, const void* where);
void rf_block_reduction(struct rf_call* call, const void* send, int64_t count, MPI_Datatype type, MPI_Op how,
                        MPI_Comm comm, const void* where);

/* s, sn, st: buffer, count and type of the sent data; r, rn, rt: of the received data; the v-forms have
 * counts */
void rf_block(struct rf_call* call, uint16_t op, MPI_Comm c, const void* s, int64_t sn, MPI_Datatype st,
              int64_t rn, MPI_Datatype rt, const void* where);
void rf_blocks(struct rf_call* call, uint16_t op, MPI_Comm c, const void* s, int64_t sn, MPI_Datatype st,
               struct rf_counts rn, MPI_Datatype rt, const void* where);
void rf_all_to_all(struct rf_call* call, uint16_t op, MPI_Comm c, const void* s, struct rf_counts sn,
                   MPI_Datatype st, struct rf_counts rn, MPI_Datatype rt, const MPI_Datatype* rts,
                   const void* where);
void rf_gather(struct rf_call* call, uint16_t op, MPI_Comm c, const void* s, int64_t sn, MPI_Datatype st,
               int64_t rn, MPI_Datatype rt, struct rf_counts rns, int root, const void* where);
void rf_scatter(struct rf_call* call, uint16_t op, MPI_Comm c, int64_t sn, MPI_Datatype st,
                struct rf_counts sns, const void* r, int64_t rn, MPI_Datatype rt, int root,
                const void* where);

struct rf_shares { /* for each neighbour: one count of one type, or counts, or counts and types */
  int64_t count;
  struct rf_counts counts;
  MPI_Datatype type;
  const MPI_Datatype* types;
};
void rf_neighbor_exchange(struct rf_call* call, uint16_t op, MPI_Comm c, struct rf_shares sent,
                          struct rf_shares owed, const void* where);

#endif /* RANKFAULT_MPI_SHAPES_H */
