/* events.c: the work that an event stands for: the work on a stream when the event was recorded there.
 *
 * The functions of the runtime and of the driver take the same handles. An event that was recorded in a
 * captured graph, or that did not fit into the table, stands for nothing known. */
#include "points.h"
#include "streams.h"

enum { kEvents = 4096, kProbe = 32, kTries = 64 };

static struct binding {
  uint64_t event;         /* 0: free; it stays when the event is destroyed, because handles are reused */
  uint64_t version;       /* odd: being written */
  uint64_t stream, until; /* until 0: stands for nothing */
} bindings[kEvents];

static struct binding* find(cudaEvent_t event, int claim) {
  const uint64_t key = (uint64_t)(uintptr_t)event;
  const uint64_t first = (key >> 3) * 0x9e3779b97f4a7c15ull >> 32;
  if (key == 0) return NULL;
  for (uint32_t i = 0; i < kProbe; ++i) {
    struct binding* const b = &bindings[(first + i) % kEvents];
    uint64_t seen = RF_LOAD(&b->event);
    if (seen == 0 && claim)
      seen = __atomic_compare_exchange_n(&b->event, &seen, key, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ? key
                                                                                                       : seen;
    if (seen == key) return b;
    if (seen == 0) return NULL;
  }
  return NULL;
}

static void bind(cudaEvent_t event, uint64_t stream, uint64_t until) {
  struct binding* const b = find(event, until != 0);
  if (!b) return;
  uint64_t version = RF_LOAD(&b->version);
  /* If two threads record one event at once, each takes a short turn and neither waits. In a child that
   * was forked between the two stores of another thread, the version stays odd and the event stands for
   * nothing. */
  for (int tries = 0;; ++tries) {
    version &= ~(uint64_t)1;
    if (__atomic_compare_exchange_n(&b->version, &version, version + 1, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
      break;
    if (tries == kTries) {
      RF_STORE(&b->until, (uint64_t)0);
      return;
    }
  }
  b->stream = stream;
  b->until = until;
  RF_STORE(&b->version, version + 2);
}

struct rf_event_view rf_event_view(cudaEvent_t event) {
  struct rf_event_view view = {.extent = {.kind = RF_NOTHING}};
  const struct binding* const b = find(event, 0);
  if (!b) return view;
  view.version = RF_LOAD(&b->version);
  view.extent.stream = b->stream;
  view.extent.until = b->until;
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  if (view.version % 2 == 0 && RF_LOAD(&b->version) == view.version && view.extent.until != 0)
    view.extent.kind = RF_ON_STREAM;
  return view;
}

int rf_event_unchanged(cudaEvent_t event, const struct rf_event_view* view) {
  const struct binding* const b = find(event, 0);
  return b && RF_LOAD(&b->version) == view->version;
}

/* The event is unbound while it is recorded: a query in between is about the old or the new work. */
#define RECORD(type, name, arguments, forward)                                         \
  type wrap_##name arguments {                                                         \
    const int users = rf_is_users(WHERE);                                              \
    if (users) bind(event, 0, 0);                                                      \
    const struct rf_extent before = rf_extent_of_stream(stream);                       \
    const type rc = forward;                                                           \
    if (users && rc == 0 && before.kind == RF_ON_STREAM && rf_stream_is_plain(stream)) \
      bind(event, before.stream, before.until);                                        \
    return rc;                                                                         \
  }
#define QUERY_EVENT(type, name)                                                                 \
  static type ask_##name(cudaEvent_t event, int users) {                                        \
    const struct rf_event_view view = rf_event_view(event);                                     \
    const type rc = ((type(*)(cudaEvent_t))next_##name)(event);                                 \
    if (rc == 0 && users && rf_event_unchanged(event, &view)) rf_extent_complete(&view.extent); \
    return rc;                                                                                  \
  }                                                                                             \
  type wrap_##name(cudaEvent_t event) {                                                         \
    RF_DEVICE_POINT(type, RF_OP_DEVICE_QUERY, #name, 0, ask_##name(event, rf_is_users(WHERE))); \
  }
#define QUERY_STREAM(type, name)                                                                 \
  static type ask_##name(cudaStream_t stream, int users) {                                       \
    const struct rf_extent extent = rf_extent_of_stream(stream);                                 \
    const type rc = ((type(*)(cudaStream_t))next_##name)(stream);                                \
    if (rc == 0 && users) rf_extent_complete(&extent);                                           \
    return rc;                                                                                   \
  }                                                                                              \
  type wrap_##name(cudaStream_t stream) {                                                        \
    RF_DEVICE_POINT(type, RF_OP_DEVICE_QUERY, #name, 0, ask_##name(stream, rf_is_users(WHERE))); \
  }
#define WAIT_EVENT(type, name)                                               \
  type wrap_##name(cudaStream_t stream, cudaEvent_t event, unsigned flags) { \
    const struct rf_event_view view = rf_event_view(event);                  \
    const type rc = NEXT(name)(stream, event, flags);                        \
    if (rc == 0 && rf_is_users(WHERE) && rf_event_unchanged(event, &view))   \
      rf_stream_comes_after(stream, &view.extent);                           \
    return rc;                                                               \
  }
#define GONE(type, name, handle, before) \
  type wrap_##name(handle gone) {        \
    before;                              \
    return NEXT(name)(gone);             \
  }
typedef int driver_result; /* CUresult: 0 is success */

RECORD(cudaError_t, cudaEventRecord, (cudaEvent_t event, cudaStream_t stream),
       NEXT(cudaEventRecord)(event, stream))
RECORD(cudaError_t, cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned flags),
       NEXT(cudaEventRecordWithFlags)(event, stream, flags))
RECORD(driver_result, cuEventRecord, (cudaEvent_t event, cudaStream_t stream),
       NEXT(cuEventRecord)(event, stream))
RECORD(driver_result, cuEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned flags),
       NEXT(cuEventRecordWithFlags)(event, stream, flags))
QUERY_EVENT(cudaError_t, cudaEventQuery)
QUERY_EVENT(driver_result, cuEventQuery)
QUERY_STREAM(cudaError_t, cudaStreamQuery)
QUERY_STREAM(driver_result, cuStreamQuery)
WAIT_EVENT(cudaError_t, cudaStreamWaitEvent)
WAIT_EVENT(driver_result, cuStreamWaitEvent)
GONE(cudaError_t, cudaEventDestroy, cudaEvent_t, bind(gone, 0, 0))
GONE(driver_result, cuEventDestroy_v2, cudaEvent_t, bind(gone, 0, 0))
GONE(cudaError_t, cudaStreamDestroy, cudaStream_t, rf_stream_gone(gone))
GONE(driver_result, cuStreamDestroy_v2, cudaStream_t, rf_stream_gone(gone))
