/* nccl_streams.c: NCCL calls on three streams: the program waits for one, never waits for another, and
 * captures the third. With --more it makes communicators in other ways and calls newer functions. With
 * --wait-in-group it waits for the stream inside an open group, before its work is on the stream. */
#include <nccl.h>
#include <stdio.h>
#include <string.h>

extern void double_capture_begin(cudaStream_t stream);

/* Other ways to make communicators, and the functions that came with NCCL 2.28. */
static int more(ncclUniqueId id, cudaStream_t stream) {
  float data[64] = {0};
  ncclUniqueId ids[2] = {id, id};
  ncclComm_t comm, grown = NULL;
  if (ncclCommInitRankScalable(&comm, 1, 0, 2, ids, NULL) != ncclSuccess) return 1;
  ncclAlltoAll(data, data, 4, ncclFloat32, comm, stream);
  ncclGather(data, data, 4, ncclFloat32, 0, comm, stream);
  ncclScatter(data, data, 4, ncclFloat32, 0, comm, stream);
  cudaStreamSynchronize(stream);
  if (ncclCommGrow(comm, 2, &id, 0, &grown, NULL) != ncclSuccess) return 1;
  ncclAllReduce(data, data, 4, ncclFloat32, ncclSum, grown, stream);
  ncclCommRevoke(grown, 0);
  ncclCommDestroy(grown);
  ncclCommDestroy(comm);
  return 0;
}

int main(int argc, char** argv) {
  char names[3];
  const cudaStream_t waited = (cudaStream_t)&names[0], left = (cudaStream_t)&names[1];
  const cudaStream_t captured = (cudaStream_t)&names[2];
  float data[64] = {0};
  ncclUniqueId id;
  ncclComm_t comm, part;
  ncclResult_t error;
  if (argc > 1 && strcmp(argv[1], "--more") == 0)
    return ncclGetUniqueId(&id) != ncclSuccess || more(id, waited);
  if (ncclGetUniqueId(&id) != ncclSuccess || ncclCommInitRank(&comm, 1, id, 0) != ncclSuccess) return 1;
  for (int i = 0; i < 3; ++i) ncclAllReduce(data, data, 64, ncclFloat32, ncclSum, comm, waited);
  ncclCommGetAsyncError(comm, &error);
  cudaStreamQuery(waited);
  cudaStreamSynchronize(waited);
  ncclGroupStart();
  ncclSend(data, 8, ncclFloat32, 0, comm, waited);
  ncclRecv(data, 8, ncclFloat32, 0, comm, waited);
  if (argc > 1 && strcmp(argv[1], "--wait-in-group") == 0) cudaStreamSynchronize(waited);
  ncclGroupEnd();
  if (argc == 1) cudaStreamSynchronize(waited);
  ncclBcast(data, 4, ncclInt32, 0, comm, left);
  double_capture_begin(captured);
  ncclAllGather(data, data, 2, ncclFloat64, comm, captured);
  cudaStreamSynchronize(captured);
  ncclAllReduce(data, data, 0, ncclFloat32, ncclSum, comm, waited);
  if (ncclCommSplit(comm, 0, 0, &part, NULL) != ncclSuccess) return 1;
  ncclAllReduce(data, data, 16, ncclFloat16, ncclMax, part, left);
  ncclCommDestroy(part);
  ncclCommFinalize(comm);
  ncclCommDestroy(comm);
  return 0;
}
