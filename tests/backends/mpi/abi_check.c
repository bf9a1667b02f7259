/* abi_check.c: checks every number and layout that a decoder copied, against a real mpi.h at compile time. */
#include <mpi.h>

#include RF_MPI_ABI

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
SAME(RF_MPI_CART, MPI_CART);
SAME(RF_MPI_GRAPH, MPI_GRAPH);
SAME(RF_MPI_DIST_GRAPH, MPI_DIST_GRAPH);
SAME(RF_MPI_MAX_LIBRARY_VERSION, MPI_MAX_LIBRARY_VERSION_STRING);
SAME(sizeof(struct rf_mpi_status), sizeof(MPI_Status));
SAME(offsetof(struct rf_mpi_status, source), offsetof(MPI_Status, MPI_SOURCE));
SAME(offsetof(struct rf_mpi_status, tag), offsetof(MPI_Status, MPI_TAG));
SAME(offsetof(struct rf_mpi_status, error), offsetof(MPI_Status, MPI_ERROR));

/* Only the optimiser knows numbers of pointer type as constants. */
extern void rankfault_differs(void) __attribute__((error("a handle or an address differs from mpi.h")));
#define SAME_ADDRESS(ours, theirs) \
  if ((uintptr_t)(ours) != (uintptr_t)(theirs)) rankfault_differs()

void rankfault_compares(void);
__attribute__((optimize("O2"))) void rankfault_compares(void) {
  SAME_ADDRESS(RF_MPI_IN_PLACE, MPI_IN_PLACE);
  SAME_ADDRESS(RF_MPI_STATUS_IGNORE, MPI_STATUS_IGNORE);
  SAME_ADDRESS(RF_MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE);
#ifdef OPEN_MPI /* its handles are addresses of objects */
  SAME(offsetof(struct rf_mpi_status, cancelled), offsetof(MPI_Status, _cancelled));
  SAME(offsetof(struct rf_mpi_status, bytes), offsetof(MPI_Status, _ucount));
#else
  SAME_ADDRESS(RF_MPI_COMM_NULL, MPI_COMM_NULL);
  SAME_ADDRESS(RF_MPI_COMM_WORLD, MPI_COMM_WORLD);
  SAME_ADDRESS(RF_MPI_COMM_SELF, MPI_COMM_SELF);
  SAME_ADDRESS(RF_MPI_REQUEST_NULL, MPI_REQUEST_NULL);
  SAME_ADDRESS(RF_MPI_MESSAGE_NO_PROC, MPI_MESSAGE_NO_PROC);
  SAME_ADDRESS(RF_MPI_DATATYPE_NULL, MPI_DATATYPE_NULL);
#define RF_TYPE(object, name, word) SAME_ADDRESS(RF_MPI_TYPE_##name, MPI_##name);
#include "harness/backends/mpi/types.def"
#define RF_OP(object, name) SAME_ADDRESS(RF_MPI_OP_##name, MPI_##name);
#include "harness/backends/mpi/reduce_ops.def"
  SAME(sizeof(MPI_Comm), sizeof(MPI_Request));
#endif
}
