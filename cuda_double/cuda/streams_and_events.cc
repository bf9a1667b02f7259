// streams_and_events.cc: the runtime's streams, events and host functions, over core/streams.
#include "cuda_double/core/memory.h"
#include "cuda_double/cuda/api.h"

using namespace cuda_double;  // NOLINT: what follows stands outside of all namespaces

namespace {
Event* event_of(cudaEvent_t handle) { return reinterpret_cast<Event*>(handle); }
}  // namespace

GPULESS_API cudaStreamCreateWithFlags(cudaStream_t* out, unsigned flags) {
  if (!out) return give(kInvalidValue);
  *out = reinterpret_cast<cudaStream_t>(
      Streams::all().make(current_device(), !(flags & cudaStreamNonBlocking)).get());
  return cudaSuccess;
}
GPULESS_API cudaStreamCreate(cudaStream_t* out) { return cudaStreamCreateWithFlags(out, cudaStreamDefault); }
GPULESS_API cudaStreamCreateWithPriority(cudaStream_t* out, unsigned flags, int) {
  return cudaStreamCreateWithFlags(out, flags);
}
GPULESS_API cudaStreamDestroy(cudaStream_t handle) { return give(Streams::all().destroy(handle)); }
GPULESS_API cudaStreamSynchronize(cudaStream_t handle) {
  StreamPtr stream = stream_of(handle);
  if (!stream) return give(kInvalidHandle);
  Streams::all().wait_for(Streams::all().end_of(stream));
  return cudaSuccess;
}
GPULESS_API cudaStreamQuery(cudaStream_t handle) {
  StreamPtr stream = stream_of(handle);
  if (!stream) return give(kInvalidHandle);
  return Streams::all().reached(Streams::all().end_of(stream)) ? cudaSuccess : cudaErrorNotReady;
}
GPULESS_API cudaDeviceSynchronize() {
  Streams::all().wait_for_device(current_device());
  return cudaSuccess;
}
GPULESS_API cudaStreamGetPriority(cudaStream_t, int* priority) {
  *priority = 0;
  return cudaSuccess;
}
GPULESS_API cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  StreamPtr stream = stream_of(handle);
  if (!stream) return give(kInvalidHandle);
  *flags = stream->is_blocking() ? cudaStreamDefault : cudaStreamNonBlocking;
  return cudaSuccess;
}
GPULESS_API cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
  StreamPtr stream = stream_of(handle);
  if (!stream) return give(kInvalidHandle);
  *id = stream->id();
  return cudaSuccess;
}
GPULESS_API cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = 0;
  return cudaSuccess;
}

GPULESS_API cudaEventCreateWithFlags(cudaEvent_t* out, unsigned) {
  *out = reinterpret_cast<cudaEvent_t>(new Event);
  return cudaSuccess;
}
GPULESS_API cudaEventCreate(cudaEvent_t* out) { return cudaEventCreateWithFlags(out, cudaEventDefault); }
GPULESS_API cudaEventDestroy(cudaEvent_t handle) {
  delete event_of(handle);
  return cudaSuccess;
}
GPULESS_API cudaEventRecord(cudaEvent_t handle, cudaStream_t on) {
  StreamPtr stream = stream_of(on);
  if (!stream || !handle) return give(kInvalidHandle);
  record(event_of(handle), stream);
  return cudaSuccess;
}
GPULESS_API cudaEventRecordWithFlags(cudaEvent_t handle, cudaStream_t on, unsigned) {
  return cudaEventRecord(handle, on);
}
GPULESS_API cudaEventQuery(cudaEvent_t handle) {
  if (!handle) return give(kInvalidHandle);
  return reached(*event_of(handle)) ? cudaSuccess : cudaErrorNotReady;
}
GPULESS_API cudaEventSynchronize(cudaEvent_t handle) {
  if (!handle) return give(kInvalidHandle);
  Streams::all().wait_for(Place(event_of(handle)->place));
  return cudaSuccess;
}
GPULESS_API cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  if (!from || !to || !event_of(from)->at || !event_of(to)->at) return give(kInvalidHandle);
  if (!reached(*event_of(from)) || !reached(*event_of(to))) return cudaErrorNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(*event_of(to)->at - *event_of(from)->at).count();
  return cudaSuccess;
}
GPULESS_API cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
  StreamPtr stream = stream_of(handle);
  if (!stream || !event) return give(kInvalidHandle);
  Place place = event_of(event)->place;
  if (!place.stream) return cudaSuccess;  // never recorded
  Streams::all().enqueue(stream, {[] { return true; }, {place}, true});
  return cudaSuccess;
}

// A host function runs on the stream's worker, never in the thread that enqueues it, because it may wait for
// that thread.
GPULESS_API cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
  StreamPtr stream = stream_of(handle);
  if (!stream) return give(kInvalidHandle);
  Streams::all().enqueue(stream, {[=] {
                                    function(data);
                                    return true;
                                  },
                                  {},
                                  false});
  return cudaSuccess;
}
GPULESS_API cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t function, void* data, unsigned) {
  StreamPtr stream = stream_of(handle);
  if (!stream) return give(kInvalidHandle);
  Streams::all().enqueue(stream, {[=] {
                                    function(handle, cudaSuccess, data);
                                    return true;
                                  },
                                  {},
                                  false});
  return cudaSuccess;
}

// Streams are never captured: graphs are not modelled.
GPULESS_API cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
GPULESS_API cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }
#if CUDART_VERSION >= 13000
GPULESS_API cudaStreamGetCaptureInfo(cudaStream_t, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t*, const cudaGraphNode_t**, const cudaGraphEdgeData**,
                                     size_t* count) {
#else
GPULESS_API cudaStreamGetCaptureInfo_v3(cudaStream_t, cudaStreamCaptureStatus* status, unsigned long long* id,
                                        cudaGraph_t*, const cudaGraphNode_t**, const cudaGraphEdgeData**,
                                        size_t* count) {
#endif
  *status = cudaStreamCaptureStatusNone;
  if (id) *id = 0;
  if (count) *count = 0;
  return cudaSuccess;
}
#if CUDART_VERSION < 13000
GPULESS_API cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                        unsigned long long* id, cudaGraph_t* graph,
                                        const cudaGraphNode_t** nodes, size_t* count) {
  return cudaStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, nullptr, count);
}
#endif
