/* mpi_large_matched.c: mpi_matched.c with counts of the type MPI_Count. */
#define LARGE_COUNTS
#include "../mpi_matched.c"
