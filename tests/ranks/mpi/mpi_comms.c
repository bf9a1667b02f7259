/* mpi_comms.c: communicators made in every way of the library: by tag, twice with the same tag, over some
 * of the ranks, between two halves, merged again, as a grid, and freed and made again. */
#include <mpi.h>
#include <stdlib.h>

#include "own_counts.h"

static int rank, size;

/* Every second rank, twice with one tag: the library distinguishes the two, and so must a reader. */
static void by_tag(void) {
  MPI_Group world, even;
  MPI_Comm first, second;
  int ranks[64], n = 0;
  for (int r = 0; r < size; r += 2) ranks[n++] = r;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, n, ranks, &even);
  if (rank % 2 == 0) {
    count("comm_create"), MPI_Comm_create_group(MPI_COMM_WORLD, even, 7, &first);
    count("comm_create"), MPI_Comm_create_group(MPI_COMM_WORLD, even, 7, &second);
    count("barrier"), MPI_Barrier(first);
    count("comm_free"), MPI_Comm_free(&first);
    count("comm_free"), MPI_Comm_free(&second);
  }
  count("comm_create"), MPI_Comm_create(MPI_COMM_WORLD, even, &first);
  if (first != MPI_COMM_NULL) count("comm_free"), MPI_Comm_free(&first);
  MPI_Group_free(&even);
  MPI_Group_free(&world);
}

static void between_halves(void) {
  MPI_Comm half, inter, twin, merged;
  count("comm_create"), MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  count("comm_create"), MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 9, &inter);
  count("comm_create"), MPI_Comm_dup(inter, &twin);
  count("barrier"), MPI_Barrier(twin);
  count("comm_create"), MPI_Intercomm_merge(inter, rank % 2, &merged);
  count("barrier"), MPI_Barrier(merged);
  count("comm_free"), MPI_Comm_free(&merged);
  count("comm_free"), MPI_Comm_free(&twin);
  count("comm_free"), MPI_Comm_free(&inter);
  count("comm_free"), MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
  MPI_Comm grid, again;
  int provided = 0, dims[1], periods[1] = {1};
  count("init");
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  by_tag();
  between_halves();
  dims[0] = size;
  count("comm_create"), MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid);
  count("barrier"), MPI_Barrier(grid);
  count("comm_free"), MPI_Comm_free(&grid);
  for (int i = 0; i < 3; ++i) { /* the library returns the same handle again */
    count("comm_create"), MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &again);
    count("barrier"), MPI_Barrier(again);
    count("comm_free"), MPI_Comm_free(&again);
  }
  count("finalize");
  MPI_Finalize();
  print_counts(rank, "mpi_comms", provided == MPI_THREAD_MULTIPLE);
  return 0;
}
