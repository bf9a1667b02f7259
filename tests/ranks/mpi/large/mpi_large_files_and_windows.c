/* mpi_large_files_and_windows.c: mpi_files_and_windows.c with counts of the type MPI_Count. */
#define LARGE_COUNTS
#include "../mpi_files_and_windows.c"
