/* nccl_own_runtime.c: a program with a statically linked CUDA runtime, as nvcc links by default: its waits
 * for a stream call no library. NCCL also has its own runtime. */
#include <nccl.h>

static cudaError_t synchronize(cudaStream_t stream) { return stream ? cudaSuccess : cudaErrorUnknown; }

int main(void) {
  char name;
  const cudaStream_t stream = (cudaStream_t)&name;
  float data[4] = {0};
  ncclUniqueId id;
  ncclComm_t comm;
  if (ncclGetUniqueId(&id) != ncclSuccess || ncclCommInitRank(&comm, 2, id, 0) != ncclSuccess) return 1;
  if (ncclAllReduce(data, data, 4, ncclFloat32, ncclSum, comm, stream) != ncclSuccess) return 2;
  return synchronize(stream) != cudaSuccess || ncclCommDestroy(comm) != ncclSuccess;
}
