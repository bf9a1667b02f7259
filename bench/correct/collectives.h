/* collectives.h: blocking, nonblocking and persistent collectives, and polled ones. */
#ifndef RANKFAULT_BENCH_CORRECT_COLLECTIVES_H
#define RANKFAULT_BENCH_CORRECT_COLLECTIVES_H

#include "correct.h"

static void one_collective(struct world* w, MPI_Comm comm) {
  int rank, size, mine, sum, all[64], out[64];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int root = below(&w->common, size);
  mine = rank + 1;
  switch (below(&w->common, 8)) {
    case 0:
      MPI_Barrier(comm);
      break;
    case 1:
      sum = rank == root ? 17 : 0;
      MPI_Bcast(&sum, 1, MPI_INT, root, comm);
      check(w, sum == 17, "bcast");
      break;
    case 2:
      MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
      check(w, sum == size * (size + 1) / 2, "allreduce");
      break;
    case 3:
      MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_MAX, root, comm);
      check(w, rank != root || sum == size, "reduce");
      break;
    case 4:
      MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, root, comm);
      check(w, rank != root || is_filled(all, size, 1), "gather");
      break;
    case 5:
      fill(all, size, 5);
      MPI_Scatter(all, 1, MPI_INT, &sum, 1, MPI_INT, root, comm);
      check(w, sum == 5 + rank, "scatter");
      break;
    case 6:
      MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm);
      check(w, is_filled(all, size, 1), "allgather");
      break;
    default:
      for (int i = 0; i < size; ++i) out[i] = rank * 100 + i;
      MPI_Alltoall(out, 1, MPI_INT, all, 1, MPI_INT, comm);
      check(w, all[size - 1] == (size - 1) * 100 + rank, "alltoall");
  }
}

static void collectives(struct world* w) {
  const int steps = 1 + below(&w->common, 6);
  for (int i = 0; i < steps; ++i) {
    pause_sometimes(w);
    one_collective(w, w->comm);
  }
}

/* Rank r gives r + 1 numbers: counts differ by design. */
static void uneven_collectives(struct world* w) {
  int counts[64], places[64], all[2200], mine[64], total = 0;
  for (int r = 0; r < w->size; ++r) {
    counts[r] = r % 5; /* some ranks give nothing */
    places[r] = total;
    total += counts[r];
  }
  fill(mine, counts[w->rank], w->rank * 1000);
  MPI_Allgatherv(mine, counts[w->rank], MPI_INT, all, counts, places, MPI_INT, w->comm);
  for (int r = 0; r < w->size; ++r) check(w, is_filled(all + places[r], counts[r], r * 1000), "allgatherv");
  const int root = below(&w->common, w->size);
  MPI_Gatherv(mine, counts[w->rank], MPI_INT, all, counts, places, MPI_INT, root, w->comm);
  MPI_Scatterv(all, counts, places, MPI_INT, mine, counts[w->rank], MPI_INT, root, w->comm);
  check(w, is_filled(mine, counts[w->rank], w->rank * 1000), "scatterv");
}

/* All ranks start them in one order; each rank waits for them in another. */
static void nonblocking_collectives(struct world* w) {
  enum { kMost = 5 };
  MPI_Request requests[kMost];
  int in[kMost], out[kMost];
  const int count = 1 + below(&w->common, kMost);
  for (int i = 0; i < count; ++i) {
    in[i] = w->rank + i;
    pause_sometimes(w);
    if (below(&w->common, 3) == 0) {
      out[i] = -1;
      MPI_Ibarrier(w->comm, &requests[i]);
    } else {
      MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_MAX, w->comm, &requests[i]);
    }
  }
  const int first = below(&w->own, count);
  for (int i = 0; i < count; ++i) {
    const int which = (first + i) % count;
    MPI_Wait(&requests[which], MPI_STATUS_IGNORE);
    check(w, out[which] == -1 || out[which] == w->size - 1 + which, "iallreduce");
  }
}

static void polled_barrier(struct world* w) {
  MPI_Request request;
  int done = 0;
  pause_sometimes(w);
  MPI_Ibarrier(w->comm, &request);
  while (!done) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done) usleep(50);
  }
}

static void persistent_collective(struct world* w) {
#if MPI_VERSION >= 4
  MPI_Request request;
  int in = w->rank, out = 0;
  const int rounds = 1 + below(&w->common, 4);
  MPI_Allreduce_init(&in, &out, 1, MPI_INT, MPI_SUM, w->comm, MPI_INFO_NULL, &request);
  for (int i = 0; i < rounds; ++i) {
    in = w->rank + i;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(w, out == w->size * (w->size - 1) / 2 + i * w->size, "allreduce_init");
  }
  MPI_Request_free(&request);
#else
  MPI_Barrier(w->comm);
#endif
}

static void scans(struct world* w) {
  int mine = 1, up = 0, before = 0;
  MPI_Scan(&mine, &up, 1, MPI_INT, MPI_SUM, w->comm);
  MPI_Exscan(&mine, &before, 1, MPI_INT, MPI_SUM, w->comm);
  check(w, up == w->rank + 1 && (w->rank == 0 || before == w->rank), "scan");
}

static void neighbors(struct world* w) {
  MPI_Comm ring;
  int mine = w->rank, around[2], periodic = 1;
  MPI_Cart_create(w->comm, 1, &w->size, &periodic, 0, &ring);
  MPI_Neighbor_allgather(&mine, 1, MPI_INT, around, 1, MPI_INT, ring);
  check(w, around[0] == (w->rank + w->size - 1) % w->size && around[1] == (w->rank + 1) % w->size,
        "neighbors");
  MPI_Comm_free(&ring);
}

#endif
