/* library.c: finds the library's own functions in the process, without linking to it. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "decoder.h"

struct mpi_library rf_mpi;

int rf_library_functions(const struct rf_wanted* wanted, size_t count, const char** missing) {
  for (size_t i = 0; i < count; ++i) {
    void* const found = rf_core->resolve(wanted[i].symbol);
    if (!found) {
      *missing = wanted[i].symbol;
      return -1;
    }
    *(void**)wanted[i].slot = found;
  }
  return 0;
}

/* An executable that names an object of the library has a copy of it (copy relocation), and the library then
 * uses that copy: the global scope takes precedence. In Python, which loads the library RTLD_LOCAL, there is
 * no copy, and the link map is searched. */
void* rf_library_object(const char* symbol) {
  void* found = dlsym(RTLD_DEFAULT, symbol);
  return found ? found : rf_core->resolve(symbol);
}

const void* rf_library_object_once(const char* symbol, const void** known) {
  static const char none;
  const void* found = __atomic_load_n(known, __ATOMIC_RELAXED);
  if (!found) {
    found = rf_library_object(symbol);
    __atomic_store_n(known, found ? found : &none, __ATOMIC_RELAXED);
  }
  return found == &none ? NULL : found;
}

int rf_library_load(const char** reason) {
  static const struct rf_wanted kFunctions[] = {
      {"PMPI_Initialized", &rf_mpi.initialized},
      {"PMPI_Query_thread", &rf_mpi.query_thread},
      {"PMPI_Comm_rank", &rf_mpi.comm_rank},
      {"PMPI_Comm_size", &rf_mpi.comm_size},
      {"PMPI_Comm_group", &rf_mpi.comm_group},
      {"PMPI_Comm_remote_group", &rf_mpi.comm_remote_group},
      {"PMPI_Comm_get_parent", &rf_mpi.comm_get_parent},
      {"PMPI_Comm_test_inter", &rf_mpi.comm_test_inter},
      {"PMPI_Comm_call_errhandler", &rf_mpi.comm_call_errhandler},
      {"PMPI_Group_size", &rf_mpi.group_size},
      {"PMPI_Group_free", &rf_mpi.group_free},
      {"PMPI_Group_translate_ranks", &rf_mpi.group_translate_ranks},
  };
  if (rf_library_functions(kFunctions, sizeof(kFunctions) / sizeof(kFunctions[0]), reason) != 0) return -1;
  rf_mpi.type_size = (int (*)(MPI_Datatype, int64_t*))rf_core->resolve("PMPI_Type_size_x");
  if (!rf_mpi.type_size)
    rf_mpi.type_size = (int (*)(MPI_Datatype, int64_t*))rf_core->resolve("PMPI_Type_size_c");
  if (!rf_mpi.type_size) {
    *reason = "PMPI_Type_size_x";
    return -1;
  }
  if (rf_library_version() == 0) {
    *reason = "version of the MPI not known";
    return -1;
  }
  return rf_neighbors_load(reason) == 0 ? rf_abi_load(reason) : -1;
}

uint32_t rf_library_version(void) {
  int (*get)(char*, int*) = (int (*)(char*, int*))rf_core->resolve("PMPI_Get_library_version");
  char text[RF_MPI_MAX_LIBRARY_VERSION + 1] = "";
  int length = 0;
  if (!get || get(text, &length) != RF_MPI_SUCCESS) return 0;
  return rf_abi_version(text);
}
