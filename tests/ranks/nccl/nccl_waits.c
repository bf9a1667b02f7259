/* nccl_waits.c: carries out its words in order, over tests/support/nccl_double.c:
 *
 *   sum:A:5                    an all-reduce of 5 elements on stream A; N is a non-blocking stream
 *   sum:0:5 sum:L:5 sum:T:5    on NULL, on the legacy and on the per-thread default stream
 *   join twin                  from now on, a new communicator; one with the id of the last one
 *   steps:300                  300 times: sum:A:1, then B after A and A after B, by events
 *   events:300                 300 times: sum:B:1, and a wait for it by an event
 *   record:e:A after:B:e       event e recorded on A; B waits for e
 *   sync:A sync_event:e        waits; query:A query_event:e asks
 *   cu_record:e:A ...          the same in the driver; also cu_after, cu_sync, cu_sync_event, cu_query_event
 *   gone:A gone_event:e cu_gone_event:e
 *   device device:1 context    waits for the current device; makes another one current; waits as the driver
 *   from to free cu_from       cudaMemcpy from the device and to it; cudaFree
 *   async_from:A async_from_pinned:A
 *   group end capture:A own:A abort     own: NCCL itself waits
 *   progress idle fails poll   NCCL's answer from now on: in progress, success, an error */
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void double_capture_begin(cudaStream_t stream);
extern void double_waits_itself(cudaStream_t stream);
extern void double_is_in_progress(int yes);
extern void double_fails(void);
typedef int driver_result;
extern driver_result cuEventRecord(cudaEvent_t, cudaStream_t), cuEventSynchronize(cudaEvent_t),
    cuEventQuery(cudaEvent_t), cuEventDestroy_v2(cudaEvent_t), cuStreamSynchronize(cudaStream_t),
    cuStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned), cuCtxSynchronize(void),
    cuMemcpyDtoH_v2(void*, unsigned long long, size_t);

static ncclComm_t comm;
static float data[64];

static cudaStream_t stream_of(const char* word) {
  static long long streams[64];
  if (word[0] == '0') return NULL;
  if (word[0] == 'L') return cudaStreamLegacy;
  if (word[0] == 'T') return cudaStreamPerThread;
  return (cudaStream_t)((char*)&streams[word[0] % 32] + (word[0] == 'N'));
}
static cudaEvent_t event_of(const char* word) {
  static long long events[64];
  return (cudaEvent_t)&events[word[0] % 32];
}

static int waits(const char* word, const char* a) {
  if (!strcmp(word, "sync")) return cudaStreamSynchronize(stream_of(a));
  if (!strcmp(word, "sync_event")) return cudaEventSynchronize(event_of(a));
  if (!strcmp(word, "query")) return cudaStreamQuery(stream_of(a));
  if (!strcmp(word, "query_event")) return cudaEventQuery(event_of(a));
  if (!strcmp(word, "device")) return a ? cudaSetDevice(atoi(a)) : cudaDeviceSynchronize();
  if (!strcmp(word, "from")) return cudaMemcpy(data, data, 4, cudaMemcpyDeviceToHost);
  if (!strcmp(word, "to")) return cudaMemcpy(data, data, 4, cudaMemcpyHostToDevice);
  if (!strcmp(word, "free")) return cudaFree(data);
  if (!strcmp(word, "async_from"))
    return cudaMemcpyAsync(data, data, 4, cudaMemcpyDeviceToHost, stream_of(a));
  if (!strcmp(word, "async_from_pinned"))
    return cudaMemcpyAsync((char*)data + 1, data, 4, cudaMemcpyDeviceToHost, stream_of(a));
  if (!strcmp(word, "own")) return double_waits_itself(stream_of(a)), 0;
  if (!strcmp(word, "cu_sync")) return cuStreamSynchronize(stream_of(a));
  if (!strcmp(word, "cu_sync_event")) return cuEventSynchronize(event_of(a));
  if (!strcmp(word, "cu_query_event")) return cuEventQuery(event_of(a));
  if (!strcmp(word, "context")) return cuCtxSynchronize();
  if (!strcmp(word, "cu_from")) return cuMemcpyDtoH_v2(data, 8, 4);
  return -1;
}

/* A training loop whose two streams wait for each other in every step. */
static int steps(int count) {
  const cudaStream_t a = stream_of("A"), b = stream_of("B");
  for (int i = 0; i < count; ++i) {
    if (ncclAllReduce(data, data, 1, ncclFloat32, ncclSum, comm, a) != ncclSuccess ||
        cudaEventRecord(event_of("e"), a) || cudaStreamWaitEvent(b, event_of("e"), 0) ||
        cudaEventRecord(event_of("f"), b) || cudaStreamWaitEvent(a, event_of("f"), 0))
      return 1;
  }
  return 0;
}

static int events(int count) {
  const cudaStream_t b = stream_of("B");
  for (int i = 0; i < count; ++i)
    if (ncclAllReduce(data, data, 1, ncclFloat32, ncclSum, comm, b) != ncclSuccess ||
        cudaEventRecord(event_of("e"), b) || cudaEventSynchronize(event_of("e")))
      return 1;
  return 0;
}

static int join(int is_new) {
  static ncclUniqueId id;
  if (is_new && ncclGetUniqueId(&id) != ncclSuccess) return 1;
  return ncclCommInitRank(&comm, 2, id, is_new ? 0 : 1) != ncclSuccess;
}

static int orders(const char* word, const char* a, const char* b) {
  ncclResult_t error;
  if (!strcmp(word, "sum")) {
    const ncclResult_t rc =
        ncclAllReduce(data, data, (size_t)atoi(b), ncclFloat32, ncclSum, comm, stream_of(a));
    return rc != ncclSuccess && rc != ncclInProgress;
  }
  if (!strcmp(word, "join")) return join(1);
  if (!strcmp(word, "twin")) return join(0);
  if (!strcmp(word, "steps")) return steps(atoi(a));
  if (!strcmp(word, "events")) return events(atoi(a));
  if (!strcmp(word, "record")) return cudaEventRecord(event_of(a), stream_of(b));
  if (!strcmp(word, "after")) return cudaStreamWaitEvent(stream_of(a), event_of(b), 0);
  if (!strcmp(word, "gone")) return cudaStreamDestroy(stream_of(a));
  if (!strcmp(word, "gone_event")) return cudaEventDestroy(event_of(a));
  if (!strcmp(word, "cu_record")) return cuEventRecord(event_of(a), stream_of(b));
  if (!strcmp(word, "cu_after")) return cuStreamWaitEvent(stream_of(a), event_of(b), 0);
  if (!strcmp(word, "cu_gone_event")) return cuEventDestroy_v2(event_of(a));
  if (!strcmp(word, "group")) return ncclGroupStart();
  if (!strcmp(word, "end")) return ncclGroupEnd() == ncclInvalidUsage;
  if (!strcmp(word, "progress")) return double_is_in_progress(1), 0;
  if (!strcmp(word, "idle")) return double_is_in_progress(0), 0;
  if (!strcmp(word, "fails")) return double_fails(), 0;
  if (!strcmp(word, "poll")) return ncclCommGetAsyncError(comm, &error);
  if (!strcmp(word, "capture")) return double_capture_begin(stream_of(a)), 0;
  if (!strcmp(word, "abort")) return ncclCommAbort(comm);
  return -1;
}

int main(int argc, char** argv) {
  if (join(1)) return 1;
  for (int i = 1; i < argc; ++i) {
    const char *const word = strtok(argv[i], ":"), *const a = strtok(NULL, ":"), *const b = strtok(NULL, ":");
    int rc = waits(word, a);
    if (rc == -1) rc = orders(word, a, b);
    if (rc != 0 && rc != cudaErrorNotReady) return fprintf(stderr, "%s: %d\n", word, rc), 64;
  }
  return 0;
}
