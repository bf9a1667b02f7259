/* program.c: asks, in every way that a program has, whether functions of communication libraries exist,
 * and prints the answers. Usage: program WAY [FOLDER of the plugins]. Built lazily bound, with -z now, and
 * not PIE. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#pragma weak MPI_Abi_get_version
#pragma weak MPI_Barrier
#pragma weak MPI_Initialized
#pragma weak ncclCommShrink
#pragma weak cudaStreamSynchronize
#pragma weak mpi_barrier_
int MPI_Abi_get_version(int*, int*);
int MPI_Barrier(void);
int MPI_Initialized(int*);
int ncclCommShrink(void);
int cudaStreamSynchronize(void*);
void mpi_barrier_(int*, int*);

static int (*volatile kept)(int*) = MPI_Initialized; /* an address in data, bound at the start */
static volatile char own_data[3 * 4096] = {1};       /* begins after those addresses, in their last page */

static const char* there(const void* address) { return address ? "there" : "absent"; }
#define SAY(name) printf("%s: %s\n", #name, there((const void*)(name)))

static void weak(void) {
  SAY(MPI_Abi_get_version);
  SAY(MPI_Barrier);
  SAY(MPI_Initialized);
  SAY(ncclCommShrink);
  SAY(cudaStreamSynchronize);
  SAY(mpi_barrier_);
  SAY(kept);
}

static void ask(void* handle, const char* name) {
  dlerror();
  const void* found = dlsym(handle, name);
  const char* error = dlerror();
  printf("%s: %s, %s\n", name, there(found), error ? error : "no error");
  dlerror();
  found = dlvsym(handle, name, "NEVER_1.0");
  error = dlerror();
  printf("%s@NEVER_1.0: %s, %s\n", name, there(found), error ? error : "no error");
}

static void ask_all(void* handle) {
  static const char* const names[] = {"MPI_Barrier",
                                      "MPI_Abi_get_version",
                                      "ncclGetVersion",
                                      "cudaMalloc",
                                      "_ZN4gloo7barrierERNS_14BarrierOptionsE",
                                      "printf",
                                      "no_such_name"};
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); ++i) ask(handle, names[i]);
}

static void* load(const char* folder, const char* file, int mode) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/%s", folder, file);
  void* handle = dlopen(path, mode);
  printf("%s: %s\n", file, handle ? "loaded" : dlerror());
  return handle;
}

static void call(void* handle, const char* name) {
  int (*function)(void);
  *(void**)(&function) = handle ? dlsym(handle, name) : NULL;
  if (function) printf("%s gives %d\n", name, function());
}

static void load_library_and_ask(const char* folder) {
  ask_all(RTLD_DEFAULT); /* before the library is loaded */
  void* library = load(folder, "libnames_library.so", RTLD_NOW | RTLD_GLOBAL);
  ask_all(RTLD_DEFAULT);
  ask_all(library);
  ask_all(dlopen(NULL, RTLD_LAZY));
  call(RTLD_DEFAULT, "MPI_Barrier");
  weak();
  dlclose(library);
}

static void names_of_addresses(const char* folder) {
  load(folder, "libnames_library.so", RTLD_NOW | RTLD_GLOBAL);
  void* plugin = load(folder, "libnames_plugin.so", RTLD_NOW | RTLD_LOCAL);
  void* (*barrier)(void);
  *(void**)(&barrier) = dlsym(plugin, "barrier");
  const void* const addresses[] = {dlsym(RTLD_DEFAULT, "MPI_Barrier"), dlsym(RTLD_DEFAULT, "MPI_Get_version"),
                                   barrier()};
  for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); ++i) {
    Dl_info where;
    printf("%s\n", dladdr(addresses[i], &where) && where.dli_sname ? where.dli_sname : "no name");
  }
}

int main(int argc, char** argv) {
  const char *way = argc > 1 ? argv[1] : "", *folder = argc > 2 ? argv[2] : ".";
  setvbuf(stdout, NULL, _IONBF, 0);
  if (strcmp(way, "weak") == 0) weak();
  for (size_t i = 0; i < sizeof(own_data); ++i) own_data[i] = 2; /* must still be writable */
  if (strcmp(way, "addresses") == 0) names_of_addresses(folder);
  if (strcmp(way, "many") == 0) call(load(folder, "libnames_many.so", RTLD_NOW | RTLD_LOCAL), "plugin");
  if (strcmp(way, "default") == 0) ask_all(RTLD_DEFAULT);
  if (strcmp(way, "next") == 0) ask_all(RTLD_NEXT);
  if (strcmp(way, "program") == 0) ask_all(dlopen(NULL, RTLD_LAZY));
  if (strcmp(way, "later") == 0) load_library_and_ask(folder);
  if (strcmp(way, "plugin") == 0) call(load(folder, "libnames_plugin.so", RTLD_NOW | RTLD_LOCAL), "plugin");
  if (strcmp(way, "missing_now") == 0)
    call(load(folder, "libnames_missing.so", RTLD_NOW | RTLD_LOCAL), "plugin");
  if (strcmp(way, "missing_lazy") == 0)
    call(load(folder, "libnames_missing.so", RTLD_LAZY | RTLD_LOCAL), "plugin");
  return 0;
}
