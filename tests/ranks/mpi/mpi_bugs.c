/* mpi_bugs.c: a step loop with one built-in mistake, on one rank at one step.
 *
 *   mpi_bugs --bug=none|skip|count|dtype|root|op [--rank=R] [--step=K] [--steps=N]
 *
 * Each step is an all_reduce of 64 floats (sum) and a broadcast of 16 ints from rank 0. The mistake:
 *   skip   the all_reduce is not made         count  the all_reduce has 32 elements
 *   dtype  the all_reduce is of ints          op     the all_reduce is a maximum
 *   root   the broadcast names rank 1 as root */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "own_counts.h"

int main(int argc, char** argv) {
  char bug[16] = "none";
  int bug_rank = 1, bug_step = 3, steps = 10, rank = 0;
  for (int i = 1; i < argc; ++i)
    if (sscanf(argv[i], "--bug=%15s", bug) != 1 && sscanf(argv[i], "--rank=%d", &bug_rank) != 1 &&
        sscanf(argv[i], "--step=%d", &bug_step) != 1 && sscanf(argv[i], "--steps=%d", &steps) != 1) {
      fprintf(stderr, "mpi_bugs: unknown argument %s\n", argv[i]);
      return 64;
    }
  float mine[64] = {0}, sum[64] = {0};
  int settings[16] = {0};
  count("init");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int step = 0; step < steps; ++step) {
    const char* here = rank == bug_rank && step == bug_step ? bug : "none";
    const int elements = strcmp(here, "count") == 0 ? 32 : 64;
    const MPI_Datatype type = strcmp(here, "dtype") == 0 ? MPI_INT : MPI_FLOAT;
    const MPI_Op op = strcmp(here, "op") == 0 ? MPI_MAX : MPI_SUM;
    if (strcmp(here, "skip") != 0) {
      count("all_reduce");
      MPI_Allreduce(mine, sum, elements, type, op, MPI_COMM_WORLD);
    }
    count("broadcast");
    MPI_Bcast(settings, 16, MPI_INT, strcmp(here, "root") == 0 ? 1 : 0, MPI_COMM_WORLD);
  }
  count("finalize");
  MPI_Finalize();
  print_counts(rank, "mpi_bugs", sum[0]);
  return 0;
}
