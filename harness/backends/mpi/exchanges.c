/* exchanges.c: gather, scatter and all-to-all in all their forms. */
#include "counts.h"
#include "shapes.h"

#define CHANGED(count, type, root) rf_apply_change(&call, count, type, root, NULL)
#define TYPE MPI_Datatype

#define BLOCK_ARGS const void *s, rf_count sn, TYPE st, void *r, rf_count rn, TYPE rt
int WRAP(MPI_Allgather)(BLOCK_ARGS, MPI_Comm c) {
  struct rf_call call;
  rf_block(&call, RF_OP_ALL_GATHER, c, s, sn, st, rn, rt, WHERE);
  RF_RETURN_CALL(&call, c, (CHANGED(&sn, &st, NULL), NEXT(MPI_Allgather)(s, sn, st, r, rn, rt, c)));
}
int WRAP(MPI_Iallgather)(BLOCK_ARGS, MPI_Comm c, MPI_Request* q) {
  struct rf_call call;
  rf_block(&call, RF_OP_ALL_GATHER, c, s, sn, st, rn, rt, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q,
                     (CHANGED(&sn, &st, NULL), NEXT(MPI_Iallgather)(s, sn, st, r, rn, rt, c, q)));
}
int WRAP(MPI_Alltoall)(BLOCK_ARGS, MPI_Comm c) {
  struct rf_call call;
  rf_block(&call, RF_OP_ALL_TO_ALL, c, s, sn, st, rn, rt, WHERE);
  RF_RETURN_CALL(&call, c, (CHANGED(&sn, &st, NULL), NEXT(MPI_Alltoall)(s, sn, st, r, rn, rt, c)));
}
int WRAP(MPI_Ialltoall)(BLOCK_ARGS, MPI_Comm c, MPI_Request* q) {
  struct rf_call call;
  rf_block(&call, RF_OP_ALL_TO_ALL, c, s, sn, st, rn, rt, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q, (CHANGED(&sn, &st, NULL), NEXT(MPI_Ialltoall)(s, sn, st, r, rn, rt, c, q)));
}
int WRAP(MPI_Gather)(BLOCK_ARGS, int root, MPI_Comm c) {
  struct rf_call call;
  rf_gather(&call, RF_OP_GATHER, c, s, sn, st, rn, rt, RF_NO_COUNTS, root, WHERE);
  RF_RETURN_CALL(&call, c, (CHANGED(&sn, &st, &root), NEXT(MPI_Gather)(s, sn, st, r, rn, rt, root, c)));
}
int WRAP(MPI_Igather)(BLOCK_ARGS, int root, MPI_Comm c, MPI_Request* q) {
  struct rf_call call;
  rf_gather(&call, RF_OP_GATHER, c, s, sn, st, rn, rt, RF_NO_COUNTS, root, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q,
                     (CHANGED(&sn, &st, &root), NEXT(MPI_Igather)(s, sn, st, r, rn, rt, root, c, q)));
}
int WRAP(MPI_Scatter)(BLOCK_ARGS, int root, MPI_Comm c) {
  struct rf_call call;
  rf_scatter(&call, RF_OP_SCATTER, c, sn, st, RF_NO_COUNTS, r, rn, rt, root, WHERE);
  RF_RETURN_CALL(
      &call, c,
      (CHANGED(&rn, &rt, &root), CHANGED(&sn, &st, NULL), NEXT(MPI_Scatter)(s, sn, st, r, rn, rt, root, c)));
}
int WRAP(MPI_Iscatter)(BLOCK_ARGS, int root, MPI_Comm c, MPI_Request* q) {
  struct rf_call call;
  rf_scatter(&call, RF_OP_SCATTER, c, sn, st, RF_NO_COUNTS, r, rn, rt, root, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q,
                     (CHANGED(&rn, &rt, &root), CHANGED(&sn, &st, NULL),
                      NEXT(MPI_Iscatter)(s, sn, st, r, rn, rt, root, c, q)));
}

#define GATHERV_ARGS \
  const void *s, rf_count sn, TYPE st, void *r, const rf_count *rn, const rf_displacement *rd, TYPE rt
int WRAP(MPI_Allgatherv)(GATHERV_ARGS, MPI_Comm c) {
  struct rf_call call;
  rf_blocks(&call, RF_OP_ALL_GATHERV, c, s, sn, st, COUNTS(rn), rt, WHERE);
  RF_RETURN_CALL(&call, c, (CHANGED(&sn, &st, NULL), NEXT(MPI_Allgatherv)(s, sn, st, r, rn, rd, rt, c)));
}
int WRAP(MPI_Iallgatherv)(GATHERV_ARGS, MPI_Comm c, MPI_Request* q) {
  struct rf_call call;
  rf_blocks(&call, RF_OP_ALL_GATHERV, c, s, sn, st, COUNTS(rn), rt, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q,
                     (CHANGED(&sn, &st, NULL), NEXT(MPI_Iallgatherv)(s, sn, st, r, rn, rd, rt, c, q)));
}
int WRAP(MPI_Gatherv)(GATHERV_ARGS, int root, MPI_Comm c) {
  struct rf_call call;
  rf_gather(&call, RF_OP_GATHERV, c, s, sn, st, 0, rt, COUNTS(rn), root, WHERE);
  RF_RETURN_CALL(&call, c, (CHANGED(&sn, &st, &root), NEXT(MPI_Gatherv)(s, sn, st, r, rn, rd, rt, root, c)));
}
int WRAP(MPI_Igatherv)(GATHERV_ARGS, int root, MPI_Comm c, MPI_Request* q) {
  struct rf_call call;
  rf_gather(&call, RF_OP_GATHERV, c, s, sn, st, 0, rt, COUNTS(rn), root, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q,
                     (CHANGED(&sn, &st, &root), NEXT(MPI_Igatherv)(s, sn, st, r, rn, rd, rt, root, c, q)));
}

#define SCATTERV_ARGS \
  const void *s, const rf_count *sn, const rf_displacement *sd, TYPE st, void *r, rf_count rn, TYPE rt
int WRAP(MPI_Scatterv)(SCATTERV_ARGS, int root, MPI_Comm c) {
  struct rf_call call;
  rf_scatter(&call, RF_OP_SCATTERV, c, 0, st, COUNTS(sn), r, rn, rt, root, WHERE);
  RF_RETURN_CALL(&call, c, (CHANGED(&rn, &rt, &root), NEXT(MPI_Scatterv)(s, sn, sd, st, r, rn, rt, root, c)));
}
int WRAP(MPI_Iscatterv)(SCATTERV_ARGS, int root, MPI_Comm c, MPI_Request* q) {
  struct rf_call call;
  rf_scatter(&call, RF_OP_SCATTERV, c, 0, st, COUNTS(sn), r, rn, rt, root, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q,
                     (CHANGED(&rn, &rt, &root), NEXT(MPI_Iscatterv)(s, sn, sd, st, r, rn, rt, root, c, q)));
}

#define ALLTOALLV_ARGS                                                                                \
  const void *s, const rf_count *sn, const rf_displacement *sd, TYPE st, void *r, const rf_count *rn, \
      const rf_displacement *rd, TYPE rt
int WRAP(MPI_Alltoallv)(ALLTOALLV_ARGS, MPI_Comm c) {
  struct rf_call call;
  rf_all_to_all(&call, RF_OP_ALL_TO_ALLV, c, s, COUNTS(sn), st, COUNTS(rn), rt, NULL, WHERE);
  RF_RETURN_CALL(&call, c, NEXT(MPI_Alltoallv)(s, sn, sd, st, r, rn, rd, rt, c));
}
int WRAP(MPI_Ialltoallv)(ALLTOALLV_ARGS, MPI_Comm c, MPI_Request* q) {
  struct rf_call call;
  rf_all_to_all(&call, RF_OP_ALL_TO_ALLV, c, s, COUNTS(sn), st, COUNTS(rn), rt, NULL, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q, NEXT(MPI_Ialltoallv)(s, sn, sd, st, r, rn, rd, rt, c, q));
}

#define ALLTOALLW_ARGS                                                                                       \
  const void *s, const rf_count *sn, const rf_displacement *sd, const TYPE *st, void *r, const rf_count *rn, \
      const rf_displacement *rd, const TYPE *rt
int WRAP(MPI_Alltoallw)(ALLTOALLW_ARGS, MPI_Comm c) {
  struct rf_call call;
  rf_all_to_all(&call, RF_OP_ALL_TO_ALLW, c, s, COUNTS(sn), RF_NO_HANDLE, COUNTS(rn), RF_NO_HANDLE, rt,
                WHERE);
  RF_RETURN_CALL(&call, c, NEXT(MPI_Alltoallw)(s, sn, sd, st, r, rn, rd, rt, c));
}
int WRAP(MPI_Ialltoallw)(ALLTOALLW_ARGS, MPI_Comm c, MPI_Request* q) {
  struct rf_call call;
  rf_all_to_all(&call, RF_OP_ALL_TO_ALLW, c, s, COUNTS(sn), RF_NO_HANDLE, COUNTS(rn), RF_NO_HANDLE, rt,
                WHERE);
  RF_RETURN_ENQUEUED(&call, c, q, NEXT(MPI_Ialltoallw)(s, sn, sd, st, r, rn, rd, rt, c, q));
}

/* Prepared: `i` are hints. */
#define ON MPI_Comm c, MPI_Info i, MPI_Request *q
RF_PERSISTENT(Allgather_init, (BLOCK_ARGS, ON),
              rf_block(&call, RF_OP_ALL_GATHER, c, s, sn, st, rn, rt, WHERE), (s, sn, st, r, rn, rt, c, i, q))
RF_PERSISTENT(Alltoall_init, (BLOCK_ARGS, ON), rf_block(&call, RF_OP_ALL_TO_ALL, c, s, sn, st, rn, rt, WHERE),
              (s, sn, st, r, rn, rt, c, i, q))
RF_PERSISTENT(Gather_init, (BLOCK_ARGS, int root, ON),
              rf_gather(&call, RF_OP_GATHER, c, s, sn, st, rn, rt, RF_NO_COUNTS, root, WHERE),
              (s, sn, st, r, rn, rt, root, c, i, q))
RF_PERSISTENT(Scatter_init, (BLOCK_ARGS, int root, ON),
              rf_scatter(&call, RF_OP_SCATTER, c, sn, st, RF_NO_COUNTS, r, rn, rt, root, WHERE),
              (s, sn, st, r, rn, rt, root, c, i, q))
RF_PERSISTENT(Allgatherv_init, (GATHERV_ARGS, ON),
              rf_blocks(&call, RF_OP_ALL_GATHERV, c, s, sn, st, COUNTS(rn), rt, WHERE),
              (s, sn, st, r, rn, rd, rt, c, i, q))
RF_PERSISTENT(Gatherv_init, (GATHERV_ARGS, int root, ON),
              rf_gather(&call, RF_OP_GATHERV, c, s, sn, st, 0, rt, COUNTS(rn), root, WHERE),
              (s, sn, st, r, rn, rd, rt, root, c, i, q))
RF_PERSISTENT(Scatterv_init, (SCATTERV_ARGS, int root, ON),
              rf_scatter(&call, RF_OP_SCATTERV, c, 0, st, COUNTS(sn), r, rn, rt, root, WHERE),
              (s, sn, sd, st, r, rn, rt, root, c, i, q))
RF_PERSISTENT(Alltoallv_init, (ALLTOALLV_ARGS, ON),
              rf_all_to_all(&call, RF_OP_ALL_TO_ALLV, c, s, COUNTS(sn), st, COUNTS(rn), rt, NULL, WHERE),
              (s, sn, sd, st, r, rn, rd, rt, c, i, q))
RF_PERSISTENT(Alltoallw_init, (ALLTOALLW_ARGS, ON),
              rf_all_to_all(&call, RF_OP_ALL_TO_ALLW, c, s, COUNTS(sn), RF_NO_HANDLE, COUNTS(rn),
                            RF_NO_HANDLE, rt, WHERE),
              (s, sn, sd, st, r, rn, rd, rt, c, i, q))
