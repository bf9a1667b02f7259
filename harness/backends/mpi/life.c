/* life.c: initialisation, finalisation and abort; and the callbacks that may run inside a finalisation. */
#include <stdlib.h>

#include "decoder.h"

static int number_from(const char* name) {
  const char* text = getenv(name);
  return text && *text ? atoi(text) : -1;
}

/* Announced before the library is entered: a rank that hangs in MPI_Init must be visible inside it. Until the
 * library can be asked, Open MPI's and hydra's own variables show that ranks of another world started this
 * one. */
void rf_announce(void) {
  if (getenv("OMPI_PARENT_PORT") || number_from("PMI_SPAWNED") > 0) rf_core->spawned();
  const int rank = number_from(RF_MPI_RANK), size = number_from(RF_MPI_SIZE);
  if (rank >= 0) rf_core->become_member(RF_LIB_MPI, rank, size);
}

static int made(int rc) {
  if (rc == RF_MPI_SUCCESS) rf_world_made();
  return rc;
}

int wrap_MPI_Init(int* argc, char*** argv) {
  rf_announce();
  struct rf_call call;
  rf_call_on(&call, RF_OP_INIT, RF_NO_HANDLE, WHERE);
  RF_RETURN_CALL(&call, RF_NO_HANDLE, made(NEXT(MPI_Init)(argc, argv)));
}

int wrap_MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  rf_announce();
  struct rf_call call;
  rf_call_on(&call, RF_OP_INIT, RF_NO_HANDLE, WHERE);
  RF_RETURN_CALL(&call, RF_NO_HANDLE, made(NEXT(MPI_Init_thread)(argc, argv, required, provided)));
}

static int finalize(void) {
  rf_world_released();
  const int rc = ((int (*)(void))next_MPI_Finalize)();
  if (rc == RF_MPI_SUCCESS) rf_core->finalized(RF_LIB_MPI);
  return rc;
}

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF before it ends anything, and the delete functions may
 * communicate (MPI 4.1, 11.2.4): a rank inside it may still make a call. */
static int may_call_back;
/* A delete function of the library itself (MPICH's MPI-IO has one) calls nothing of the program. */
void rf_note_delete_function(const void* where) {
  if (!rf_core->is_library_code(where)) may_call_back = 1;
}
void rf_note_finalize(void) {
  if (may_call_back) rf_core->opaque(RF_OPAQUE_COMMUNICATION);
}

int wrap_MPI_Finalize(void) {
  rf_note_finalize();
  struct rf_call call;
  rf_call_on(&call, RF_OP_FINALIZE, rf_mpi.world, WHERE);
  RF_RETURN_CALL(&call, RF_NO_HANDLE, finalize());
}

int wrap_MPI_Abort(MPI_Comm comm, int code) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_COMM_ABORT, comm, WHERE);
  RF_RETURN_CALL(&call, comm, NEXT(MPI_Abort)(comm, code));
}

int wrap_MPI_Comm_create_keyval(void* copy, void* on_delete, int* key, void* extra) {
  if (on_delete) rf_note_delete_function(WHERE);
  return NEXT(MPI_Comm_create_keyval)(copy, on_delete, key, extra);
}

int wrap_MPI_Keyval_create(void* copy, void* on_delete, int* key, void* extra) {
  if (on_delete) rf_note_delete_function(WHERE);
  return NEXT(MPI_Keyval_create)(copy, on_delete, key, extra);
}
