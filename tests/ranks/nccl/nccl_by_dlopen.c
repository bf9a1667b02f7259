/* nccl_by_dlopen.c LIBRARY default|handle: takes NCCL's functions from the first library in which dlsym
 * finds them, or from the library that it has opened, as vLLM and JAX do. Exits with 3 if a name does not
 * exist. */
#include <dlfcn.h>
#include <nccl.h>
#include <string.h>

typedef ncclResult_t make_id(ncclUniqueId*), make(ncclComm_t*, int, ncclUniqueId, int),
    sum(const void*, void*, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t);

int main(int argc, char** argv) {
  if (argc < 3) return 64;
  void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  void* const in = strcmp(argv[2], "handle") == 0 ? library : RTLD_DEFAULT;
  if (!library) return 2;
  make_id* const new_id = (make_id*)dlsym(in, "ncclGetUniqueId");
  make* const init = (make*)dlsym(in, "ncclCommInitRank");
  sum* const reduce = (sum*)dlsym(in, "ncclAllReduce");
  if (!new_id || !init || !reduce) return 3;
  float data[4] = {0};
  ncclUniqueId id;
  ncclComm_t comm;
  if (new_id(&id) != ncclSuccess || init(&comm, 2, id, 0) != ncclSuccess) return 4;
  return reduce(data, data, 4, ncclFloat32, ncclSum, comm, (cudaStream_t)data) != ncclSuccess;
}
