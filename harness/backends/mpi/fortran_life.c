/* fortran_life.c: initialisation, finalisation and abort from Fortran; and the callbacks that may run inside
 * a finalisation. */
#include "fortran.h"

static void f_init(FROM, fint* error) {
  rf_announce();
  struct rf_call call;
  rf_call_on(&call, RF_OP_INIT, RF_NO_HANDLE, where);
  MAKE(&call, RF_NO_HANDLE, GO(next)(e); if (*e == RF_MPI_SUCCESS) rf_world_made());
}
NAMES(init, (fint * error), (error))

static void f_init_thread(FROM, fint* required, fint* provided, fint* error) {
  rf_announce();
  struct rf_call call;
  rf_call_on(&call, RF_OP_INIT, RF_NO_HANDLE, where);
  MAKE(&call, RF_NO_HANDLE, GO(next)(required, provided, e); if (*e == RF_MPI_SUCCESS) rf_world_made());
}
NAMES(init_thread, (fint * required, fint* provided, fint* error), (required, provided, error))

static void f_finalize(FROM, fint* error) {
  rf_note_finalize();
  struct rf_call call;
  rf_call_on(&call, RF_OP_FINALIZE, rf_mpi.world, where);
  MAKE(&call, RF_NO_HANDLE, rf_world_released(); GO(next)(e);
       if (*e == RF_MPI_SUCCESS) rf_core->finalized(RF_LIB_MPI));
}
NAMES(finalize, (fint * error), (error))

static void f_abort(FROM, fint* comm, fint* code, fint* error) {
  const MPI_Comm c = rf_comm_f2c(*comm);
  struct rf_call call;
  rf_call_on(&call, RF_OP_COMM_ABORT, c, where);
  MAKE(&call, c, GO(next)(comm, code, e));
}
NAMES(abort, (fint * comm, fint* code, fint* error), (comm, code, error))

/* Whether the delete function does nothing is unknown here: it counts as one that may call. */
static void f_comm_create_keyval(FROM, void* copy, void* on_delete, fint* key, void* extra, fint* error) {
  rf_note_delete_function(where);
  GO(next)(copy, on_delete, key, extra, error);
}
NAMES(comm_create_keyval, (void* copy, void* on_delete, fint* key, void* extra, fint* error),
      (copy, on_delete, key, extra, error))

static void f_keyval_create(FROM, void* copy, void* on_delete, fint* key, void* extra, fint* error) {
  rf_note_delete_function(where);
  GO(next)(copy, on_delete, key, extra, error);
}
NAMES(keyval_create, (void* copy, void* on_delete, fint* key, void* extra, fint* error),
      (copy, on_delete, key, extra, error))
