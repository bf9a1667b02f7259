/* mpi_large_persistent.c: mpi_persistent.c with counts of the type MPI_Count. */
#define LARGE_COUNTS
#include "../mpi_persistent.c"
