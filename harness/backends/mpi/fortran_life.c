/* fortran_life.c: initialisation and finalisation from Fortran. In Open MPI all of Fortran goes straight to
 * PMPI, in MPICH use mpi_f08 does: a C wrapper would not see that a rank has finished. */
#include "fortran.h"

static void f_init(void* next, const void* where, fint* error) {
  rf_announce();
  struct rf_call call = rf_call_on(RF_OP_INIT, RF_NO_HANDLE, where);
  MAKE(&call, RF_NO_HANDLE, ((void (*)(fint*))next)(e); if (*e == RF_MPI_SUCCESS) rf_world_made());
}
NAMES(init, (fint * error), (error))

static void f_init_thread(void* next, const void* where, fint* required, fint* provided, fint* error) {
  rf_announce();
  struct rf_call call = rf_call_on(RF_OP_INIT, RF_NO_HANDLE, where);
  MAKE(&call, RF_NO_HANDLE, ((void (*)(fint*, fint*, fint*))next)(required, provided, e);
       if (*e == RF_MPI_SUCCESS) rf_world_made());
}
NAMES(init_thread, (fint * required, fint* provided, fint* error), (required, provided, error))

static void f_finalize(void* next, const void* where, fint* error) {
  struct rf_call call = rf_call_on(RF_OP_FINALIZE, rf_mpi.world, where);
  MAKE(&call, RF_NO_HANDLE, rf_world_released(); ((void (*)(fint*))next)(e);
       if (*e == RF_MPI_SUCCESS) rf_core->finalized(RF_LIB_MPI));
}
NAMES(finalize, (fint * error), (error))
