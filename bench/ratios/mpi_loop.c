/* mpi_loop.c: makes 8-byte all-reduces and nothing else, the fastest loop. Prints the nanoseconds of one
 * call. Usage: mpi_loop CALLS [self]: with self, the calls are on MPI_COMM_SELF. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long calls = argc > 1 ? atol(argv[1]) : 100000;
  const MPI_Comm comm = argc > 2 ? MPI_COMM_SELF : MPI_COMM_WORLD;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double mine = rank, sum = 0;
  for (long i = 0; i < calls / 10; ++i) MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  for (long i = 0; i < calls; ++i) MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  const double took = MPI_Wtime() - began;
  if (rank == 0) printf("ns per call %.1f\n", took / (double)calls * 1e9);
  MPI_Finalize();
  return 0;
}
