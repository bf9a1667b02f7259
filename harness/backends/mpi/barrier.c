/* barrier.c: the barriers, the only collectives without a count. */
#include "counts.h"

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

/* Prepared: `i` are hints. */
RF_PERSISTENT(Barrier_init, (MPI_Comm c, MPI_Info i, MPI_Request* q),
              rf_call_on(&call, RF_OP_BARRIER, c, WHERE), (c, i, q))
