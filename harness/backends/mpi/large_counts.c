/* large_counts.c: functions like MPI_Bcast_c, whose counts are MPI_Count (MPI 4.0, 2.5.8): the wrappers of
 * functions like MPI_Bcast, compiled again for the wider type. mpi4py calls these if the library has them. */
#define RF_LARGE_COUNTS
#include "collectives.c"
#undef CHANGED
#include "exchanges.c"
#undef CHANGED
#undef TYPE
#include "neighbors.c"
#undef CHANGED
#include "messages.c"
