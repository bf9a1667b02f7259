/* openmpi_abi_check.c: compiled against a real mpi.h: every number and layout the decoder wrote down. */
#include <mpi.h>

#include "harness/backends/mpi/openmpi_abi.h"

#define SAME(ours, theirs) _Static_assert((long)(ours) == (long)(theirs), #theirs)
SAME(RF_MPI_SUCCESS, MPI_SUCCESS);
SAME(RF_MPI_ERR_OTHER, MPI_ERR_OTHER);
SAME(RF_MPI_ERR_IN_STATUS, MPI_ERR_IN_STATUS);
SAME(RF_MPI_ERR_PENDING, MPI_ERR_PENDING);
SAME(RF_MPI_ANY_SOURCE, MPI_ANY_SOURCE);
SAME(RF_MPI_ANY_TAG, MPI_ANY_TAG);
SAME(RF_MPI_PROC_NULL, MPI_PROC_NULL);
SAME(RF_MPI_ROOT, MPI_ROOT);
SAME(RF_MPI_UNDEFINED, MPI_UNDEFINED);
SAME(RF_MPI_THREAD_MULTIPLE, MPI_THREAD_MULTIPLE);
SAME(RF_MPI_MAX_LIBRARY_VERSION, MPI_MAX_LIBRARY_VERSION_STRING);
SAME(sizeof(struct rf_mpi_status), sizeof(MPI_Status));
SAME(offsetof(struct rf_mpi_status, source), offsetof(MPI_Status, MPI_SOURCE));
SAME(offsetof(struct rf_mpi_status, tag), offsetof(MPI_Status, MPI_TAG));
SAME(offsetof(struct rf_mpi_status, error), offsetof(MPI_Status, MPI_ERROR));
SAME(offsetof(struct rf_mpi_status, cancelled), offsetof(MPI_Status, _cancelled));
SAME(offsetof(struct rf_mpi_status, bytes), offsetof(MPI_Status, _ucount));

const void* rankfault_in_place_of_mpi_h(void);
const void* rankfault_in_place_of_mpi_h(void) { return MPI_IN_PLACE == RF_MPI_IN_PLACE ? MPI_IN_PLACE : 0; }
