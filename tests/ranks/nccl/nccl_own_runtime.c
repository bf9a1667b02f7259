/* nccl_own_runtime.c: a program with the CUDA runtime linked into it statically, as nvcc does by default: who
 * waits for a stream there calls no library. NCCL has a runtime of its own, too. */
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
