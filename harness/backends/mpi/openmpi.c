/* openmpi.c: Open MPI 4 and 5. Handles are addresses of the library's objects, found by their symbols. */
#include <stdio.h>
#include <stdlib.h>

#include "decoder.h"

static MPI_Request request_empty;

int rf_abi_load(const char** reason) {
  const struct rf_wanted handles[] = {
      {"ompi_mpi_comm_world", &rf_mpi.world},
      {"ompi_mpi_comm_self", &rf_mpi.self},
      {"ompi_mpi_comm_null", &rf_mpi.comm_null},
      {"ompi_request_null", &rf_mpi.request_null},
      {"ompi_message_no_proc", &rf_mpi.message_no_proc},
      {"ompi_request_empty", &request_empty},
      {"ompi_mpi_datatype_null", &rf_mpi.datatype_null},
  };
  for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); ++i) {
    void* const found = rf_library_object(handles[i].symbol);
    *reason = handles[i].symbol;
    if (!found) return -1;
    *(void**)handles[i].slot = found;
  }
  return 0;
}

int rf_abi_hides_errors(void) { return 0; }

uint32_t rf_abi_version(const char* text) {
  unsigned major = 0, minor = 0, patch = 0;
  if (sscanf(text, "Open MPI v%u.%u.%u", &major, &minor, &patch) < 2) return 0;
  return major < 3 || major > 5 ? 0 : major * 10000 + minor * 100 + patch;
}

uint64_t rf_abi_job(void) {
  static const char* const kNames[] = {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "SLURM_STEP_ID"};
  for (size_t i = 0; i < sizeof(kNames) / sizeof(kNames[0]); ++i) {
    const char* value = getenv(kNames[i]);
    if (value && *value) return rf_hash_text(value);
  }
  return 1;
}

MPI_Datatype rf_abi_type(rf_predefined known) { return (MPI_Datatype)rf_library_object(known); }
MPI_Op rf_abi_op(rf_predefined known) { return (MPI_Op)rf_library_object(known); }

int rf_request_is_over(MPI_Request handle) {
  return !handle || handle == rf_mpi.request_null || handle == request_empty;
}

MPI_Request rf_request_that_is_over(void) { return request_empty; }

/* The object's name depends on the compiler of the module; it is one of these. */
int rf_abi_fortran_in_place(const void* buffer, int module) {
  (void)module;
  static const char* const kSpellings[] = {"mpi_fortran_in_place_", "mpi_fortran_in_place__",
                                           "mpi_fortran_in_place", "MPI_FORTRAN_IN_PLACE"};
  enum { kCount = sizeof(kSpellings) / sizeof(kSpellings[0]) };
  static const void* in_place[kCount];
  int known = 0;
  for (int i = 0; i < kCount; ++i) {
    const void* const object = rf_library_object_once(kSpellings[i], &in_place[i]);
    if (object && object == buffer) return 1;
    known |= object != NULL;
  }
  return !known;
}

int rf_abi_fortran_first_index(int module) {
  (void)module;
  return 1;
}
