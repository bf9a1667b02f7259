/* collectives.c: broadcast and the reductions, blocking and nonblocking. */
#include "counts.h"
#include "shapes.h"

#define CHANGED(count, type, root, op) rf_apply_change(&call, count, type, root, op)

int WRAP(MPI_Bcast)(void* b, rf_count n, MPI_Datatype t, int root, MPI_Comm c) {
  struct rf_call call;
  rf_rooted(&call, RF_OP_BROADCAST, c, n, t, root, WHERE);
  RF_RETURN_CALL(&call, c, (CHANGED(&n, &t, &root, NULL), NEXT(MPI_Bcast)(b, n, t, root, c)));
}
int WRAP(MPI_Ibcast)(void* b, rf_count n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request* q) {
  struct rf_call call;
  rf_rooted(&call, RF_OP_BROADCAST, c, n, t, root, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q, (CHANGED(&n, &t, &root, NULL), NEXT(MPI_Ibcast)(b, n, t, root, c, q)));
}

int WRAP(MPI_Reduce)(const void* s, void* r, rf_count n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c) {
  struct rf_call call;
  rf_rooted_reduction(&call, s, n, t, o, root, c, WHERE);
  RF_RETURN_CALL(&call, c, (CHANGED(&n, &t, &root, &o), NEXT(MPI_Reduce)(s, r, n, t, o, root, c)));
}
int WRAP(MPI_Ireduce)(const void* s, void* r, rf_count n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c,
                      MPI_Request* q) {
  struct rf_call call;
  rf_rooted_reduction(&call, s, n, t, o, root, c, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q, (CHANGED(&n, &t, &root, &o), NEXT(MPI_Ireduce)(s, r, n, t, o, root, c, q)));
}

/* All-reduce, scan and exscan have one signature. */
#define REDUCTION(Name, OP)                                                                        \
  int WRAP(MPI_##Name)(const void* s, void* r, rf_count n, MPI_Datatype t, MPI_Op o, MPI_Comm c) { \
    struct rf_call call;                                                                           \
    rf_reduction(&call, OP, c, s, n, t, o, WHERE);                                                 \
    RF_RETURN_CALL(&call, c, (CHANGED(&n, &t, NULL, &o), NEXT(MPI_##Name)(s, r, n, t, o, c)));     \
  }
#define REDUCTION_NONBLOCKING(Name, OP)                                                                  \
  int WRAP(MPI_##Name)(const void* s, void* r, rf_count n, MPI_Datatype t, MPI_Op o, MPI_Comm c,         \
                       MPI_Request* q) {                                                                 \
    struct rf_call call;                                                                                 \
    rf_reduction(&call, OP, c, s, n, t, o, WHERE);                                                       \
    RF_RETURN_ENQUEUED(&call, c, q, (CHANGED(&n, &t, NULL, &o), NEXT(MPI_##Name)(s, r, n, t, o, c, q))); \
  }
REDUCTION(Allreduce, RF_OP_ALL_REDUCE)
REDUCTION(Scan, RF_OP_SCAN)
REDUCTION(Exscan, RF_OP_EXSCAN)
REDUCTION_NONBLOCKING(Iallreduce, RF_OP_ALL_REDUCE)
REDUCTION_NONBLOCKING(Iscan, RF_OP_SCAN)
REDUCTION_NONBLOCKING(Iexscan, RF_OP_EXSCAN)

int WRAP(MPI_Reduce_scatter)(const void* s, void* r, const rf_count n[], MPI_Datatype t, MPI_Op o,
                             MPI_Comm c) {
  struct rf_call call;
  rf_scattered_reduction(&call, s, COUNTS(n), t, o, c, WHERE);
  RF_RETURN_CALL(&call, c, (CHANGED(NULL, &t, NULL, &o), NEXT(MPI_Reduce_scatter)(s, r, n, t, o, c)));
}
int WRAP(MPI_Ireduce_scatter)(const void* s, void* r, const rf_count n[], MPI_Datatype t, MPI_Op o,
                              MPI_Comm c, MPI_Request* q) {
  struct rf_call call;
  rf_scattered_reduction(&call, s, COUNTS(n), t, o, c, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q,
                     (CHANGED(NULL, &t, NULL, &o), NEXT(MPI_Ireduce_scatter)(s, r, n, t, o, c, q)));
}
int WRAP(MPI_Reduce_scatter_block)(const void* s, void* r, rf_count n, MPI_Datatype t, MPI_Op o, MPI_Comm c) {
  struct rf_call call;
  rf_block_reduction(&call, s, n, t, o, c, WHERE);
  RF_RETURN_CALL(&call, c, (CHANGED(&n, &t, NULL, &o), NEXT(MPI_Reduce_scatter_block)(s, r, n, t, o, c)));
}
int WRAP(MPI_Ireduce_scatter_block)(const void* s, void* r, rf_count n, MPI_Datatype t, MPI_Op o, MPI_Comm c,
                                    MPI_Request* q) {
  struct rf_call call;
  rf_block_reduction(&call, s, n, t, o, c, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q,
                     (CHANGED(&n, &t, NULL, &o), NEXT(MPI_Ireduce_scatter_block)(s, r, n, t, o, c, q)));
}

/* Prepared: `i` are hints. */
RF_PERSISTENT(Bcast_init,
              (void* b, rf_count n, MPI_Datatype t, int root, MPI_Comm c, MPI_Info i, MPI_Request* q),
              rf_rooted(&call, RF_OP_BROADCAST, c, n, t, root, WHERE), (b, n, t, root, c, i, q))
RF_PERSISTENT(Reduce_init,
              (const void* s, void* r, rf_count n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c, MPI_Info i,
               MPI_Request* q),
              rf_rooted_reduction(&call, s, n, t, o, root, c, WHERE), (s, r, n, t, o, root, c, i, q))
RF_PERSISTENT(Reduce_scatter_init,
              (const void* s, void* r, const rf_count n[], MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Info i,
               MPI_Request* q),
              rf_scattered_reduction(&call, s, COUNTS(n), t, o, c, WHERE), (s, r, n, t, o, c, i, q))
#define REDUCTION_ARGS \
  const void *s, void *r, rf_count n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Info i, MPI_Request *q
RF_PERSISTENT(Allreduce_init, (REDUCTION_ARGS), rf_reduction(&call, RF_OP_ALL_REDUCE, c, s, n, t, o, WHERE),
              (s, r, n, t, o, c, i, q))
RF_PERSISTENT(Scan_init, (REDUCTION_ARGS), rf_reduction(&call, RF_OP_SCAN, c, s, n, t, o, WHERE),
              (s, r, n, t, o, c, i, q))
RF_PERSISTENT(Exscan_init, (REDUCTION_ARGS), rf_reduction(&call, RF_OP_EXSCAN, c, s, n, t, o, WHERE),
              (s, r, n, t, o, c, i, q))
RF_PERSISTENT(Reduce_scatter_block_init, (REDUCTION_ARGS), rf_block_reduction(&call, s, n, t, o, c, WHERE),
              (s, r, n, t, o, c, i, q))
