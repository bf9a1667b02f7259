/* mpi_large_neighbors.c: mpi_neighbors.c with counts of the type MPI_Count. */
#define LARGE_COUNTS
#include "../mpi_neighbors.c"
