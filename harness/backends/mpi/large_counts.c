/* large_counts.c: MPI_Bcast_c and its like, whose counts are MPI_Count (MPI 4.0, 2.5.8): the wrappers of
 * MPI_Bcast and its like once more, compiled for the wider type. mpi4py calls these where the library has
 * them. */
#define RF_LARGE_COUNTS
#include "collectives.c"
#undef CHANGED
#include "exchanges.c"
#undef CHANGED
#undef TYPE
#include "neighbors.c"
#undef CHANGED
#include "messages.c"
