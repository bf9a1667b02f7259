/* mpi_persistent.c: every persistent collective, prepared once and started in each step. Ranks start them in
 * different orders, which MPI allows.
 *
 *   mpi_persistent [--steps=N]   default: 3 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define PREPARE(name) MPI_##name##_init
#elif defined(OPEN_MPI)
#include <mpi-ext.h>
#define PREPARE(name) MPIX_##name##_init
#endif

#include "of_count.h"
#include "own_counts.h"

enum { kMax = 16, kKinds = 17 };

static int rank, size;
static int in[kMax * 2], out[kKinds][kMax * 2];
static of_count counts[kMax];
static of_displ displs[kMax], byte_displs[kMax];
static MPI_Datatype types[kMax];

static const char* const kOps[kKinds] = {
    "all_reduce",  "broadcast",   "barrier",        "reduce",
    "scan",        "exscan",      "reduce_scatter", "reduce_scatter_block",
    "all_gather",  "all_gatherv", "all_to_all",     "all_to_allv",
    "all_to_allw", "gather",      "gatherv",        "scatter",
    "scatterv"};

static void prepare_reductions(MPI_Comm c, MPI_Request* q) {
  PREPARE(Allreduce)(in, out[0], 4, MPI_INT, MPI_SUM, c, MPI_INFO_NULL, &q[0]);
  PREPARE(Bcast)(out[1], 4, MPI_INT, 0, c, MPI_INFO_NULL, &q[1]);
  PREPARE(Barrier)(c, MPI_INFO_NULL, &q[2]);
  PREPARE(Reduce)(in, out[3], 4, MPI_INT, MPI_SUM, 0, c, MPI_INFO_NULL, &q[3]);
  PREPARE(Scan)(in, out[4], 2, MPI_INT, MPI_MIN, c, MPI_INFO_NULL, &q[4]);
  PREPARE(Exscan)(in, out[5], 2, MPI_INT, MPI_BOR, c, MPI_INFO_NULL, &q[5]);
  PREPARE(Reduce_scatter)(in, out[6], counts, MPI_INT, MPI_SUM, c, MPI_INFO_NULL, &q[6]);
  PREPARE(Reduce_scatter_block)(in, out[7], 1, MPI_INT, MPI_SUM, c, MPI_INFO_NULL, &q[7]);
}

static void prepare_exchanges(MPI_Comm c, MPI_Request* q) {
  const MPI_Datatype t = MPI_INT;
  const MPI_Info i = MPI_INFO_NULL;
  PREPARE(Allgather)(in, 1, t, out[8], 1, t, c, i, &q[8]);
  PREPARE(Allgatherv)(in, 1, t, out[9], counts, displs, t, c, i, &q[9]);
  PREPARE(Alltoall)(in, 1, t, out[10], 1, t, c, i, &q[10]);
  PREPARE(Alltoallv)(in, counts, displs, t, out[11], counts, displs, t, c, i, &q[11]);
  PREPARE(Alltoallw)(in, counts, byte_displs, types, out[12], counts, byte_displs, types, c, i, &q[12]);
  PREPARE(Gather)(in, 1, t, out[13], 1, t, 0, c, i, &q[13]);
  PREPARE(Gatherv)(in, 1, t, out[14], counts, displs, t, 0, c, i, &q[14]);
  PREPARE(Scatter)(in, 1, t, out[15], 1, t, 0, c, i, &q[15]);
  PREPARE(Scatterv)(in, counts, displs, t, out[16], 1, t, 0, c, i, &q[16]);
}

/* Even ranks start the first half one by one, odd ranks the second half first. */
static void step(MPI_Request* q) {
  const int half = kKinds / 2, odd = rank % 2;
  for (int k = 0; k < kKinds; ++k) count(kOps[k]);
  if (odd) MPI_Startall(kKinds - half, q + half);
  for (int k = 0; k < half; ++k) MPI_Start(&q[k]);
  if (!odd) MPI_Startall(kKinds - half, q + half);
  count("wait"), MPI_Waitall(kKinds, q, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Request requests[kKinds];
  MPI_Comm twin;
  int steps = 3;
  if (argc > 1 && sscanf(argv[1], "--steps=%d", &steps) != 1) return 64;
  count("init"), MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > kMax) MPI_Abort(MPI_COMM_WORLD, 64);
  for (int i = 0; i < kMax * 2; ++i) in[i] = 3 * i + rank;
  for (int i = 0; i < size; ++i)
    counts[i] = 1, displs[i] = i, byte_displs[i] = i * (int)sizeof(int), types[i] = MPI_INT;
  count("comm_create"), MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  for (int k = 0; k < kKinds; ++k) count("persistent_init");
  prepare_reductions(twin, requests);
  prepare_exchanges(twin, requests);
  for (int i = 0; i < steps; ++i) step(requests);
  for (int k = 0; k < kKinds; ++k) MPI_Request_free(&requests[k]);
  count("barrier"), MPI_Barrier(MPI_COMM_WORLD);
  count("comm_free"), MPI_Comm_free(&twin);
  count("finalize"), MPI_Finalize();
  print_counts(rank, "mpi_persistent", out[0][0]);
  return 0;
}
