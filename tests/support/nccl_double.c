/* nccl_double.c: a double of libnccl and of the part of the CUDA runtime that waits for streams. It moves
 * no data and needs no GPU: an operation goes onto a stream and stays there until a host wait drains it. A
 * stream is any pointer. double_capture_begin marks a stream as being captured. A process that has
 * DOUBLE_END_IN ends itself in the function of that name, so that its record shows it waiting there. */
#include <nccl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct ncclComm {
  int rank, size;
};

enum { kStreams = 16 };
static struct {
  cudaStream_t stream;
  int pending, capturing;
} streams[kStreams];
static int group_depth;

static int at(cudaStream_t stream) {
  int i = 0;
  while (i < kStreams - 1 && streams[i].stream && streams[i].stream != stream) ++i;
  streams[i].stream = stream;
  return i;
}

void double_capture_begin(cudaStream_t stream);
void double_capture_begin(cudaStream_t stream) { streams[at(stream)].capturing = 1; }

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus* status) {
  *status = streams[at(stream)].capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

static cudaError_t waited(const char* name) {
  const char* const end_in = getenv("DOUBLE_END_IN");
  if (end_in && strcmp(end_in, name) == 0) raise(SIGKILL);
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  waited(__func__);
  streams[at(stream)].pending = 0;
  return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return streams[at(stream)].pending ? cudaErrorNotReady : cudaSuccess;
}

/* The other functions that wait, or that describe what is waited for. All succeed. A stream at an odd
 * address is non-blocking, and host memory at an odd address is pinned. */
static int device;
cudaError_t cudaSetDevice(int to) {
  device = to;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* current) {
  *current = device;
  return cudaSuccess;
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  *flags = (size_t)stream % 2 ? cudaStreamNonBlocking : cudaStreamDefault;
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes* about, const void* at) {
  about->type = (size_t)at % 2 ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
  return cudaSuccess;
}
#define SUCCEEDS(type, name, ...) \
  type name(__VA_ARGS__);         \
  type name(__VA_ARGS__) { return (type)waited(__func__); }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
typedef int driver_result;
SUCCEEDS(cudaError_t, cudaEventRecord, cudaEvent_t event, cudaStream_t stream)
SUCCEEDS(cudaError_t, cudaEventQuery, cudaEvent_t event)
SUCCEEDS(cudaError_t, cudaEventSynchronize, cudaEvent_t event)
SUCCEEDS(cudaError_t, cudaEventDestroy, cudaEvent_t event)
SUCCEEDS(cudaError_t, cudaStreamWaitEvent, cudaStream_t stream, cudaEvent_t event, unsigned flags)
SUCCEEDS(cudaError_t, cudaStreamDestroy, cudaStream_t stream)
SUCCEEDS(cudaError_t, cudaDeviceSynchronize, void)
SUCCEEDS(cudaError_t, cudaMemcpy, void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind)
SUCCEEDS(cudaError_t, cudaMemcpyAsync, void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind,
         cudaStream_t stream)
SUCCEEDS(cudaError_t, cudaFree, void* memory)
SUCCEEDS(driver_result, cuEventRecord, cudaEvent_t event, cudaStream_t stream)
SUCCEEDS(driver_result, cuEventQuery, cudaEvent_t event)
SUCCEEDS(driver_result, cuEventSynchronize, cudaEvent_t event)
SUCCEEDS(driver_result, cuEventDestroy_v2, cudaEvent_t event)
SUCCEEDS(driver_result, cuStreamWaitEvent, cudaStream_t stream, cudaEvent_t event, unsigned flags)
SUCCEEDS(driver_result, cuStreamSynchronize, cudaStream_t stream)
SUCCEEDS(driver_result, cuStreamQuery, cudaStream_t stream)
SUCCEEDS(driver_result, cuCtxSynchronize, void)
SUCCEEDS(driver_result, cuMemcpyDtoH_v2, void* to, unsigned long long from, size_t bytes)
#pragma GCC diagnostic pop

/* Waits as NCCL does in its own threads. */
void double_waits_itself(cudaStream_t stream);
void double_waits_itself(cudaStream_t stream) {
  if (cudaStreamSynchronize(stream) != cudaSuccess) abort(); /* not a tail call: the caller is on the stack */
}

/* Non-blocking communicators: everything is in progress until this is switched off. */
static ncclResult_t progress = ncclSuccess;
void double_is_in_progress(int yes);
void double_is_in_progress(int yes) { progress = yes ? ncclInProgress : ncclSuccess; }
void double_fails(void);
void double_fails(void) { progress = ncclInternalError; }

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static char made;
  memset(id, 0x5a, sizeof(*id));
  id->internal[1] = made++;
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int size, ncclUniqueId id, int rank) {
  if (id.internal[0] != 0x5a || id.internal[127] != 0x5a)
    return ncclInvalidArgument; /* passed by value, whole */
  *comm = malloc(sizeof(**comm));
  (*comm)->rank = rank;
  (*comm)->size = size;
  return ncclSuccess;
}

ncclResult_t pncclCommUserRank(const ncclComm_t comm, int* rank) {
  *rank = comm->rank;
  return ncclSuccess;
}

ncclResult_t pncclCommCount(const ncclComm_t comm, int* count) {
  *count = comm->size;
  return ncclSuccess;
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* made, ncclConfig_t* config) {
  (void)key, (void)config;
  *made = NULL;
  if (color == NCCL_SPLIT_NOCOLOR) return ncclSuccess;
  *made = malloc(sizeof(**made));
  **made = *comm;
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankScalable(ncclComm_t* comm, int size, int rank, int count, ncclUniqueId* ids,
                                      ncclConfig_t* config) {
  (void)config;
  return count > 0 ? ncclCommInitRank(comm, size, ids[count - 1], rank) : ncclInvalidArgument;
}

ncclResult_t ncclCommGrow(ncclComm_t comm, int size, const ncclUniqueId* id, int rank, ncclComm_t* made,
                          ncclConfig_t* config) {
  (void)comm, (void)config;
  return ncclCommInitRank(made, size, *id, rank);
}

ncclResult_t ncclCommRevoke(ncclComm_t comm, int flags) {
  (void)flags;
  return comm ? ncclSuccess : ncclInvalidArgument;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  free(comm);
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) { return ncclCommDestroy(comm); }

ncclResult_t ncclCommFinalize(ncclComm_t comm) { return comm ? ncclSuccess : ncclInvalidArgument; }

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  (void)comm;
  *error = progress; /* says nothing about completion */
  return ncclSuccess;
}

static ncclResult_t put(size_t count, cudaStream_t stream) {
  if (count) ++streams[at(stream)].pending;
  return group_depth > 0 ? ncclSuccess : progress;
}

ncclResult_t ncclAllReduce(const void* s, void* r, size_t n, ncclDataType_t t, ncclRedOp_t o, ncclComm_t c,
                           cudaStream_t stream) {
  (void)s, (void)r, (void)t, (void)o, (void)c;
  return put(n, stream);
}

ncclResult_t ncclBroadcast(const void* s, void* r, size_t n, ncclDataType_t t, int root, ncclComm_t c,
                           cudaStream_t stream) {
  (void)s, (void)r, (void)t, (void)root, (void)c;
  return put(n, stream);
}

/* As in the library: goes through the exported name, so the agent must not count the call twice. */
ncclResult_t ncclBcast(void* b, size_t n, ncclDataType_t t, int root, ncclComm_t c, cudaStream_t stream) {
  return ncclBroadcast(b, b, n, t, root, c, stream);
}

ncclResult_t ncclAllGather(const void* s, void* r, size_t n, ncclDataType_t t, ncclComm_t c,
                           cudaStream_t stream) {
  (void)s, (void)r, (void)t, (void)c;
  return put(n, stream);
}

ncclResult_t ncclAlltoAll(const void* s, void* r, size_t n, ncclDataType_t t, ncclComm_t c,
                          cudaStream_t stream) {
  (void)s, (void)r, (void)t, (void)c;
  return put(n, stream);
}

ncclResult_t ncclGather(const void* s, void* r, size_t n, ncclDataType_t t, int root, ncclComm_t c,
                        cudaStream_t stream) {
  (void)s, (void)r, (void)t, (void)root, (void)c;
  return put(n, stream);
}

ncclResult_t ncclScatter(const void* s, void* r, size_t n, ncclDataType_t t, int root, ncclComm_t c,
                         cudaStream_t stream) {
  (void)s, (void)r, (void)t, (void)root, (void)c;
  return put(n, stream);
}

ncclResult_t ncclSend(const void* b, size_t n, ncclDataType_t t, int peer, ncclComm_t c,
                      cudaStream_t stream) {
  (void)b, (void)t, (void)peer, (void)c;
  return put(n, stream);
}

ncclResult_t ncclRecv(void* b, size_t n, ncclDataType_t t, int peer, ncclComm_t c, cudaStream_t stream) {
  (void)b, (void)t, (void)peer, (void)c;
  return put(n, stream);
}

ncclResult_t ncclGroupStart(void) {
  ++group_depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void) { return group_depth-- > 0 ? progress : ncclInvalidUsage; }
