/* mpi_all_ops.c: every collective of MPI at least once, on three communicators, blocking and nonblocking,
 * and messages of all modes. Runs with two or more ranks, and prints its own counts. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "of_count.h"
#include "own_counts.h"

enum { kMax = 64 };

static int rank, size;
static int in[kMax * 4], out[kMax * 4];
static of_count counts[kMax];
static of_displ displs[kMax], byte_displs[kMax];
static MPI_Datatype types[kMax];

static void blocking_reductions(MPI_Comm c) {
  count("all_reduce"), MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, c);
  count("all_reduce"), MPI_Allreduce(MPI_IN_PLACE, out, 4, MPI_INT, MPI_MAX, c);
  count("reduce"), MPI_Reduce(in, out, 4, MPI_INT, MPI_PROD, 0, c);
  count("scan"), MPI_Scan(in, out, 2, MPI_INT, MPI_MIN, c);
  count("exscan"), MPI_Exscan(in, out, 2, MPI_INT, MPI_BOR, c);
  count("reduce_scatter"), MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, c);
  count("reduce_scatter_block"), MPI_Reduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, c);
  count("barrier"), MPI_Barrier(c);
}

static void blocking_exchanges(MPI_Comm c) {
  count("broadcast"), MPI_Bcast(in, 8, MPI_INT, 1, c);
  count("all_gather"), MPI_Allgather(in, 2, MPI_INT, out, 2, MPI_INT, c);
  count("all_gatherv"), MPI_Allgatherv(in, counts[rank], MPI_INT, out, counts, displs, MPI_INT, c);
  count("all_to_all"), MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, c);
  count("all_to_allv"), MPI_Alltoallv(in, counts, displs, MPI_INT, out, counts, displs, MPI_INT, c);
  count("all_to_allw"), MPI_Alltoallw(in, counts, byte_displs, types, out, counts, byte_displs, types, c);
  count("gather"), MPI_Gather(in, 2, MPI_INT, out, 2, MPI_INT, 0, c);
  count("gatherv"), MPI_Gatherv(in, counts[rank], MPI_INT, out, counts, displs, MPI_INT, 0, c);
  count("scatter"), MPI_Scatter(in, 2, MPI_INT, out, 2, MPI_INT, 0, c);
  count("scatterv"), MPI_Scatterv(in, counts, displs, MPI_INT, out, counts[rank], MPI_INT, 0, c);
}

static void pending_collectives(MPI_Comm c) {
  static int a[kMax], b[kMax];
  MPI_Request q[4];
  count("all_reduce"), MPI_Iallreduce(in, out, 4, MPI_INT, MPI_SUM, c, &q[0]);
  count("barrier"), MPI_Ibarrier(c, &q[1]);
  count("broadcast"), MPI_Ibcast(a, 3, MPI_INT, 0, c, &q[2]);
  count("all_gather"), MPI_Iallgather(in, 1, MPI_INT, b, 1, MPI_INT, c, &q[3]);
  count("wait"), MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
  count("reduce"), MPI_Ireduce(in, out, 4, MPI_INT, MPI_SUM, 0, c, &q[0]);
  count("wait"), MPI_Wait(&q[0], MPI_STATUS_IGNORE);
  int done = 0;
  count("barrier"), MPI_Ibarrier(c, &q[0]);
  while (!done) MPI_Test(&q[0], &done, MPI_STATUS_IGNORE);
}

static void messages(MPI_Comm c) {
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  int mine[2] = {rank, 7}, theirs[2] = {0}, at = 0, flag = 0;
  MPI_Request q[2];
  count("recv"), MPI_Irecv(theirs, 2, MPI_INT, before, 1, c, &q[0]);
  count("send"), MPI_Isend(mine, 2, MPI_INT, next, 1, c, &q[1]);
  count("wait"), MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
  count("sendrecv"),
      MPI_Sendrecv(mine, 2, MPI_INT, next, 2, theirs, 2, MPI_INT, before, 2, c, MPI_STATUS_IGNORE);
  count("recv"), MPI_Irecv(theirs, 2, MPI_INT, MPI_ANY_SOURCE, 3, c, &q[0]);
  count("send"), MPI_Send(mine, 2, MPI_INT, next, 3, c);
  count("wait_any"), MPI_Waitany(1, q, &at, MPI_STATUS_IGNORE);
  if (at != 0) MPI_Abort(c, 3);
  count("recv"), MPI_Irecv(theirs, 2, MPI_INT, before, 4, c, &q[0]);
  count("ssend"), MPI_Ssend(mine, 2, MPI_INT, next, 4, c);
  count("wait"), MPI_Wait(&q[0], MPI_STATUS_IGNORE);
  count("send"), MPI_Send(mine, 2, MPI_INT, MPI_PROC_NULL, 5, c);
  if (rank == 0) count("send"), MPI_Send(mine, 2, MPI_INT, 1, 6, c);
  if (rank == 1) {
    MPI_Status status;
    MPI_Iprobe(0, 99, c, &flag, &status);
    count("probe"), MPI_Probe(0, 6, c, &status);
    count("recv"), MPI_Recv(theirs, 2, MPI_INT, status.MPI_SOURCE, MPI_ANY_TAG, c, &status);
  }
}

static void persistent_messages(MPI_Comm c) {
  int mine = rank, theirs = -1;
  MPI_Request q[2];
  MPI_Send_init(&mine, 1, MPI_INT, (rank + 1) % size, 8, c, &q[0]);
  MPI_Recv_init(&theirs, 1, MPI_INT, (rank + size - 1) % size, 8, c, &q[1]);
  for (int i = 0; i < 3; ++i) {
    count("send"), count("recv"), MPI_Startall(2, q);
    count("wait"), MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&q[0]);
  MPI_Request_free(&q[1]);
}

int main(int argc, char** argv) {
  MPI_Comm twin, half, later;
  MPI_Request q;
  count("init");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2 || size > kMax) MPI_Abort(MPI_COMM_WORLD, 64);
  for (int i = 0; i < kMax * 4; ++i) in[i] = 3 * i + rank;
  for (int i = 0; i < size; ++i) {
    counts[i] = 1, displs[i] = i, byte_displs[i] = i * (int)sizeof(int), types[i] = MPI_INT;
  }
  count("comm_create"), MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  count("comm_create"), MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  count("comm_create"), MPI_Comm_idup(twin, &later, &q);
  count("wait"), MPI_Wait(&q, MPI_STATUS_IGNORE);
  blocking_reductions(MPI_COMM_WORLD);
  blocking_exchanges(twin);
  pending_collectives(later);
  messages(MPI_COMM_WORLD);
  persistent_messages(twin);
  count("all_reduce"), MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, half);
  count("barrier"), MPI_Barrier(MPI_COMM_SELF);
  count("comm_free"), MPI_Comm_free(&half);
  count("comm_free"), MPI_Comm_free(&later);
  count("comm_free"), MPI_Comm_free(&twin);
  count("finalize");
  MPI_Finalize();
  print_counts(rank, "mpi_all_ops", out[0]);
  return 0;
}
