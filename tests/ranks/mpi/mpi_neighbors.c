/* mpi_neighbors.c: the collectives over neighbours, blocking and nonblocking, on every kind of topology. The
 * program checks the result of each call.
 *
 *   mpi_neighbors [--steps=N]   default: 1 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "of_count.h"
#include "own_counts.h"

enum { kMost = 4, kTopologies = 4 };

static int rank, size, wrong;
static int in[kMost], out[kMost];
static of_count counts[kMost] = {1, 1, 1, 1};
static of_displ displs[kMost] = {0, 1, 2, 3};
static MPI_Aint byte_displs[kMost];
static MPI_Datatype types[kMost];

/* Each rank sends its own number along every edge. */
static void check(int edges, const int* from) {
  for (int i = 0; i < edges; ++i) {
    if (from[i] >= 0 && out[i] != from[i]) ++wrong;
    out[i] = -1;
  }
}

static void blocking(MPI_Comm c, int edges, const int* from) {
  count("neighbor_all_gather"), MPI_Neighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, c);
  check(edges, from);
  count("neighbor_all_gatherv"), MPI_Neighbor_allgatherv(in, 1, MPI_INT, out, counts, displs, MPI_INT, c);
  check(edges, from);
  count("neighbor_all_to_all"), MPI_Neighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, c);
  check(edges, from);
  count("neighbor_all_to_allv"),
      MPI_Neighbor_alltoallv(in, counts, displs, MPI_INT, out, counts, displs, MPI_INT, c);
  check(edges, from);
  count("neighbor_all_to_allw"),
      MPI_Neighbor_alltoallw(in, counts, byte_displs, types, out, counts, byte_displs, types, c);
  check(edges, from);
}

static void pending(MPI_Comm c, int edges, const int* from) {
  MPI_Request q;
#define WAIT count("wait"), MPI_Wait(&q, MPI_STATUS_IGNORE), check(edges, from)
  count("neighbor_all_gather"), MPI_Ineighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, c, &q);
  WAIT;
  count("neighbor_all_gatherv"),
      MPI_Ineighbor_allgatherv(in, 1, MPI_INT, out, counts, displs, MPI_INT, c, &q);
  WAIT;
  count("neighbor_all_to_all"), MPI_Ineighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, c, &q);
  WAIT;
  count("neighbor_all_to_allv"),
      MPI_Ineighbor_alltoallv(in, counts, displs, MPI_INT, out, counts, displs, MPI_INT, c, &q);
  WAIT;
  count("neighbor_all_to_allw"),
      MPI_Ineighbor_alltoallw(in, counts, byte_displs, types, out, counts, byte_displs, types, c, &q);
  WAIT;
}

/* One ring for each: a grid without its closing edge, a grid, a graph, and a distributed graph in only one
 * direction. */
static void make(MPI_Comm made[kTopologies], int from[kTopologies][kMost]) {
  const int next = (rank + 1) % size, before = (rank + size - 1) % size, open = 0, closed = 1, weight = 1;
  int *index = malloc(sizeof(int) * (size_t)size), *edges = malloc(sizeof(int) * 2 * (size_t)size);
  for (int r = 0; r < size; ++r) {
    index[r] = 2 * (r + 1);
    edges[2 * r] = (r + size - 1) % size;
    edges[2 * r + 1] = (r + 1) % size;
  }
  for (int k = 0; k < kTopologies; ++k) from[k][0] = before, from[k][1] = next, count("comm_create");
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &open, 0, &made[0]);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &closed, 0, &made[1]);
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &made[2]);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, &weight, 1, &next, &weight, MPI_INFO_NULL, 0,
                                 &made[3]);
  if (rank == 0) from[0][0] = -1;
  if (rank == size - 1) from[0][1] = -1;
  free(index), free(edges);
}

int main(int argc, char** argv) {
  const int edges[kTopologies] = {2, 2, 2, 1};
  MPI_Comm made[kTopologies];
  int from[kTopologies][kMost], steps = 1;
  if (argc > 1 && sscanf(argv[1], "--steps=%d", &steps) != 1) return 64;
  count("init"), MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < kMost; ++i) in[i] = rank, byte_displs[i] = i * (int)sizeof(int), types[i] = MPI_INT;
  make(made, from);
  for (int step = 0; step < steps; ++step)
    for (int k = 0; k < kTopologies; ++k) {
      blocking(made[k], edges[k], from[k]);
      pending(made[k], edges[k], from[k]);
    }
  count("barrier"), MPI_Barrier(MPI_COMM_WORLD);
  for (int k = 0; k < kTopologies; ++k) count("comm_free"), MPI_Comm_free(&made[k]);
  count("finalize"), MPI_Finalize();
  print_counts(rank, "mpi_neighbors", wrong);
  return wrong != 0;
}
