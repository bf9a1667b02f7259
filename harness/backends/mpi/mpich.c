/* mpich.c: MPICH 4 and 5, by its own binary interface and by MPI 5's. Predefined handles are numbers. */
#include <stdio.h>
#include <stdlib.h>

#include "decoder.h"
#include "hydra_job.h"

static int (*isend)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
static uint32_t version;

int rf_abi_load(const char** reason) {
  const struct rf_wanted functions[] = {
      {"PMPI_Isend", &isend},
  };
  rf_mpi.world = (MPI_Comm)(rf_predefined)RF_MPI_COMM_WORLD;
  rf_mpi.self = (MPI_Comm)(rf_predefined)RF_MPI_COMM_SELF;
  rf_mpi.comm_null = (MPI_Comm)(rf_predefined)RF_MPI_COMM_NULL;
  rf_mpi.request_null = (MPI_Request)(rf_predefined)RF_MPI_REQUEST_NULL;
  rf_mpi.message_no_proc = (MPI_Message)(rf_predefined)RF_MPI_MESSAGE_NO_PROC;
  rf_mpi.datatype_null = (MPI_Datatype)(rf_predefined)RF_MPI_DATATYPE_NULL;
  return rf_library_functions(functions, sizeof(functions) / sizeof(functions[0]), reason);
}

/* Other libraries share MPICH's interface (Intel MPI, MVAPICH); how they handle requests is unknown here. */
uint32_t rf_abi_version(const char* text) {
  unsigned major = 0, minor = 0, patch = 0;
  if (sscanf(text, "MPICH Version: %u.%u.%u", &major, &minor, &patch) < 2) return 0;
  version = major < 4 || major > 5 ? 0 : major * 10000 + minor * 100 + patch;
  return version;
}

/* 4.0.2 and 4.2.3 return the error; 5.0.2 does not. */
int rf_abi_hides_errors(void) { return version == 0 || version >= 40300; }

uint64_t rf_abi_job(void) {
  MPI_Comm parent = rf_mpi.comm_null;
  if (rf_mpi.comm_get_parent(&parent) != RF_MPI_SUCCESS || parent != rf_mpi.comm_null) return 0; /* spawned */
  return rf_hydra_job();
}

MPI_Datatype rf_abi_type(rf_predefined known) { return (MPI_Datatype)known; }
MPI_Op rf_abi_op(rf_predefined known) { return (MPI_Op)known; }

/* One request stands for all requests that were complete at creation, one for each kind of call: the two
 * highest bits of its number show that it is predefined. */
int rf_request_is_over(MPI_Request handle) {
  if (handle == RF_NO_HANDLE || handle == rf_mpi.request_null) return 1;
  return (uint32_t)rf_request_c2f(handle) >> 30 == 1;
}

MPI_Request rf_request_that_is_over(void) {
  MPI_Request made = rf_mpi.request_null;
  isend(NULL, 0, rf_abi_type(RF_MPI_TYPE_BYTE), RF_MPI_PROC_NULL, 0, rf_mpi.self, &made);
  return made;
}

/* In mpif.h and use mpi it is in a common block, whose address the library keeps; in mpi_f08 it is an
 * object. */
int rf_abi_fortran_in_place(const void* buffer, int module) {
  static const void *address_of_common, *object_of_f08;
  if (module == RF_MPI_H) {
    const void* const* const common = rf_library_object_once("MPIR_F_MPI_IN_PLACE", &address_of_common);
    return !common || *common == buffer;
  }
  const void* const object = rf_library_object_once("MPIR_F08_MPI_IN_PLACE", &object_of_f08);
  return !object || object == buffer;
}

/* Before 4.1, mpi_f08's waits and tests returned C's indices. */
int rf_abi_fortran_first_index(int module) { return module == RF_MPI_H || version >= 40100; }
