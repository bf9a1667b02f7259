/* library.c: finds Open MPI's own functions and handles in the process, without linking to it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include "decoder.h"

struct mpi_library rf_mpi;

/* An executable that names a predefined handle holds a copy of the object (copy relocation), and the
 * library then uses that copy: the global scope answers first. In Python, where the library is loaded
 * RTLD_LOCAL, there is no copy and the link map answers. */
void* rf_library_object(const char* symbol) {
  void* found = dlsym(RTLD_DEFAULT, symbol);
  return found ? found : rf_core->resolve(symbol);
}

static int load_functions(const char** missing) {
  const struct {
    const char* symbol;
    void* slot;
  } wanted[] = {
      {"PMPI_Initialized", &rf_mpi.initialized},
      {"PMPI_Query_thread", &rf_mpi.query_thread},
      {"PMPI_Comm_rank", &rf_mpi.comm_rank},
      {"PMPI_Comm_size", &rf_mpi.comm_size},
      {"PMPI_Comm_group", &rf_mpi.comm_group},
      {"PMPI_Comm_remote_group", &rf_mpi.comm_remote_group},
      {"PMPI_Comm_test_inter", &rf_mpi.comm_test_inter},
      {"PMPI_Comm_call_errhandler", &rf_mpi.comm_call_errhandler},
      {"PMPI_Group_size", &rf_mpi.group_size},
      {"PMPI_Group_free", &rf_mpi.group_free},
      {"PMPI_Group_translate_ranks", &rf_mpi.group_translate_ranks},
      {"PMPI_Type_size", &rf_mpi.type_size},
      {"PMPI_Comm_f2c", &rf_mpi.comm_f2c},
      {"PMPI_Type_f2c", &rf_mpi.type_f2c},
      {"PMPI_Op_f2c", &rf_mpi.op_f2c},
      {"PMPI_Request_f2c", &rf_mpi.request_f2c},
      {"ompi_mpi_comm_world", &rf_mpi.world},
      {"ompi_mpi_comm_self", &rf_mpi.self},
      {"ompi_mpi_comm_null", &rf_mpi.comm_null},
      {"ompi_request_null", &rf_mpi.request_null},
      {"ompi_request_empty", &rf_mpi.request_empty},
      {"ompi_mpi_datatype_null", &rf_mpi.datatype_null},
  };
  for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); ++i) {
    void* found = rf_library_object(wanted[i].symbol);
    if (!found) {
      *missing = wanted[i].symbol;
      return -1;
    }
    *(void**)wanted[i].slot = found;
  }
  return 0;
}

int rf_library_load(const char** reason) {
  if (load_functions(reason) != 0) return -1;
  const uint32_t version = rf_library_version();
  if (version < 30000 || version >= 60000) {
    *reason = "Open MPI version not known";
    return -1;
  }
  return 0;
}

uint32_t rf_library_version(void) {
  int (*get)(char*, int*) = (int (*)(char*, int*))rf_core->resolve("PMPI_Get_library_version");
  char text[RF_MPI_MAX_LIBRARY_VERSION + 1] = "";
  int length = 0;
  unsigned major = 0, minor = 0, patch = 0;
  if (!get || get(text, &length) != RF_MPI_SUCCESS) return 0;
  if (sscanf(text, "Open MPI v%u.%u.%u", &major, &minor, &patch) < 2) return 0;
  return major * 10000 + minor * 100 + patch;
}
