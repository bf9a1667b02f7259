/* host_waits.c: the calls in which a thread waits for the device. During the wait its lane is in a
 * stream_wait that names the operations of NCCL that it certainly waits for. If the wait succeeds, these
 * operations are complete.
 *
 * Each wait for a stream, an event or the device is recorded. Copies and cudaFree are recorded only while
 * operations that they wait for are pending, because programs make too many of them. */
#include "streams.h"

enum completes { NOT_SEEN_COMPLETE, SEEN_COMPLETE };
typedef int driver_result; /* CUresult: 0 is success */

static struct rf_extent on_device(enum rf_extent_kind kind) {
  const int device = rf_current_device();
  return (struct rf_extent){
      .kind = device < 0 ? RF_NOTHING : kind, .device = device, .until = rf_stream_position()};
}

static enum rf_verdict begin(struct rf_call* call, enum rf_host_wait in, const struct rf_extent* extent,
                             const void* where) {
  uint64_t origins[RF_MOST_NAMED];
  *call = rf_call_on(RF_OP_STREAM_WAIT, NULL, where);
  call->library = RF_LIB_CUDA;
  call->tag = (int32_t)in;
  const int named = rf_extent_pending(extent, origins, RF_MOST_NAMED, &call->pending_count);
  for (int i = 0; i < named && i < 2; ++i) call->pending[i] = origins[i];
  const enum rf_verdict verdict = rf_core->begin(call);
  for (int i = 2; i < named; ++i) rf_core->detail(call, RF_PEER_NONE, 0, 0, origins[i]);
  return verdict;
}

/* Returns the result of a wait that an action makes fail. */
static int not_made(const struct rf_call* call) {
  return call->fail_code > 0 ? call->fail_code : cudaErrorUnknown;
}

/* `forward` may use the arguments; `extent`: the work that is waited for. */
#define RF_WAIT(type, kind, covers, completes, event_check, forward)                            \
  do {                                                                                          \
    const struct rf_extent extent_ = covers;                                                    \
    struct rf_call call_;                                                                       \
    const enum rf_verdict verdict_ = begin(&call_, RF_HOST_WAIT_##kind, &extent_, WHERE);       \
    const type rc_ = verdict_ == RF_DO_FORWARD ? (forward) : (type)not_made(&call_);            \
    if (verdict_ == RF_DO_FORWARD && rc_ == 0 && (completes) == SEEN_COMPLETE && (event_check)) \
      rf_extent_complete(&extent_);                                                             \
    rf_core->end(&call_, (int)rc_);                                                             \
    return rc_;                                                                                 \
  } while (0)

#define STREAM(type, name, kind)                                                            \
  type wrap_##name(cudaStream_t stream) {                                                   \
    if (!rf_is_users(WHERE)) return NEXT(name)(stream);                                     \
    RF_WAIT(type, kind, rf_extent_of_stream(stream), SEEN_COMPLETE, 1, NEXT(name)(stream)); \
  }
STREAM(cudaError_t, cudaStreamSynchronize, STREAM)
STREAM(driver_result, cuStreamSynchronize, DRIVER_STREAM)

#define EVENT(type, name, kind)                                                                           \
  type wrap_##name(cudaEvent_t event) {                                                                   \
    if (!rf_is_users(WHERE)) return NEXT(name)(event);                                                    \
    const struct rf_event_view view = rf_event_view(event);                                               \
    RF_WAIT(type, kind, view.extent, SEEN_COMPLETE, rf_event_unchanged(event, &view), NEXT(name)(event)); \
  }
EVENT(cudaError_t, cudaEventSynchronize, EVENT)
EVENT(driver_result, cuEventSynchronize, DRIVER_EVENT)

/* A device may have several contexts: a wait in one does not cover all work on the device. */
#define DEVICE(type, name, kind, completes)                             \
  type wrap_##name(void) {                                              \
    type (*const next)(void) = (type(*)(void))next_##name;              \
    if (!rf_is_users(WHERE)) return next();                             \
    RF_WAIT(type, kind, on_device(RF_ON_DEVICE), completes, 1, next()); \
  }
DEVICE(cudaError_t, cudaDeviceSynchronize, DEVICE, SEEN_COMPLETE)
DEVICE(driver_result, cuCtxSynchronize, DRIVER_CONTEXT, NOT_SEEN_COMPLETE)

#define RF_WAIT_IF_PENDING(type, kind, covers, completes, forward) \
  do {                                                             \
    const struct rf_extent waited_ = covers;                       \
    if (!rf_extent_has_pending(&waited_)) return forward;          \
    RF_WAIT(type, kind, waited_, completes, 1, forward);           \
  } while (0)

/* Only data that is read back is certainly complete: a copy to the device may be staged. */
cudaError_t wrap_cudaMemcpy(void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind) {
  if (!rf_is_users(WHERE) || bytes == 0 || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyHostToHost)
    return NEXT(cudaMemcpy)(to, from, bytes, kind);
  RF_WAIT_IF_PENDING(cudaError_t, COPY, on_device(RF_BEFORE_LEGACY),
                     kind == cudaMemcpyDeviceToHost ? SEEN_COMPLETE : NOT_SEEN_COMPLETE,
                     NEXT(cudaMemcpy)(to, from, bytes, kind));
}

static int is_pageable(const void* host) {
  static cudaError_t (*ask)(struct cudaPointerAttributes*, const void*);
  struct cudaPointerAttributes about = {.type = cudaMemoryTypeHost};
  if (!RF_LOAD(&ask))
    RF_STORE(&ask, (cudaError_t(*)(struct cudaPointerAttributes*, const void*))rf_core->resolve(
                       "cudaPointerGetAttributes"));
  return ask && ask(&about, host) == cudaSuccess && about.type == cudaMemoryTypeUnregistered;
}

/* A copy back into pageable memory returns when it is complete. */
cudaError_t wrap_cudaMemcpyAsync(void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind,
                                 cudaStream_t stream) {
  if (!rf_is_users(WHERE) || bytes == 0 || (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyHostToDevice))
    return NEXT(cudaMemcpyAsync)(to, from, bytes, kind, stream);
  const struct rf_extent extent = rf_extent_of_stream(stream);
  if (!rf_extent_has_pending(&extent) || !rf_stream_is_plain(stream) ||
      !is_pageable(kind == cudaMemcpyDeviceToHost ? to : from))
    return NEXT(cudaMemcpyAsync)(to, from, bytes, kind, stream);
  RF_WAIT(cudaError_t, COPY_ASYNC, extent, kind == cudaMemcpyDeviceToHost ? SEEN_COMPLETE : NOT_SEEN_COMPLETE,
          1, NEXT(cudaMemcpyAsync)(to, from, bytes, kind, stream));
}

/* It waits for the device in practice, but this is not guaranteed. */
cudaError_t wrap_cudaFree(void* memory) {
  if (!memory || !rf_is_users(WHERE)) return NEXT(cudaFree)(memory);
  RF_WAIT_IF_PENDING(cudaError_t, FREE, on_device(RF_ON_DEVICE), NOT_SEEN_COMPLETE, NEXT(cudaFree)(memory));
}

/* Only the names of the driver's copies show the direction. */
typedef unsigned long long device_pointer;
driver_result wrap_cuMemcpy(device_pointer to, device_pointer from, size_t bytes) {
  if (!rf_is_users(WHERE)) return NEXT(cuMemcpy)(to, from, bytes);
  RF_WAIT_IF_PENDING(driver_result, DRIVER_COPY, on_device(RF_BEFORE_LEGACY), NOT_SEEN_COMPLETE,
                     NEXT(cuMemcpy)(to, from, bytes));
}
driver_result wrap_cuMemcpyDtoH_v2(void* to, device_pointer from, size_t bytes) {
  if (!rf_is_users(WHERE)) return NEXT(cuMemcpyDtoH_v2)(to, from, bytes);
  RF_WAIT_IF_PENDING(driver_result, DRIVER_COPY_FROM, on_device(RF_BEFORE_LEGACY), NOT_SEEN_COMPLETE,
                     NEXT(cuMemcpyDtoH_v2)(to, from, bytes));
}
driver_result wrap_cuMemcpyHtoD_v2(device_pointer to, const void* from, size_t bytes) {
  if (!rf_is_users(WHERE)) return NEXT(cuMemcpyHtoD_v2)(to, from, bytes);
  RF_WAIT_IF_PENDING(driver_result, DRIVER_COPY_TO, on_device(RF_BEFORE_LEGACY), NOT_SEEN_COMPLETE,
                     NEXT(cuMemcpyHtoD_v2)(to, from, bytes));
}
