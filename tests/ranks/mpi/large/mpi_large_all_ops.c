/* mpi_large_all_ops.c: mpi_all_ops.c with counts of the type MPI_Count. */
#define LARGE_COUNTS
#include "../mpi_all_ops.c"
