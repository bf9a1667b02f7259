/* streams.c: which operations are on which stream, and which of them a host wait has seen complete.
 *
 * Completion is recorded only when the program itself waited for (or asked) the stream with success,
 * after the operation was surely on it. Everything else stays unknown: operations inside a captured
 * graph, events, other streams' waits, and what does not fit into the table. */
#include <pthread.h>

#include "decoder.h"

enum { kEntries = 4096, kWindow = 64 };
enum state { kFree, kFilling, kInGroup, kOnStream };

static struct entry {
  uint32_t state;
  uint32_t comm;
  uint64_t stamp; /* when it was put on the stream */
  uint64_t stream, thread, origin, seq;
} entries[kEntries];
static uint64_t stamps;
static uint32_t next_entry;
static uint32_t highest; /* entries in use end here */

static uint64_t stamp(void) { return __atomic_add_fetch(&stamps, 1, __ATOMIC_ACQ_REL); }

/* Work of a stream that is being captured runs when the graph is launched, not when the stream does. */
static int is_plain(cudaStream_t stream) {
  static cudaError_t (*ask)(cudaStream_t, enum cudaStreamCaptureStatus*);
  static int asked;
  enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (!__atomic_load_n(&asked, __ATOMIC_ACQUIRE)) {
    ask = (cudaError_t(*)(cudaStream_t, enum cudaStreamCaptureStatus*))rf_core->resolve(
        "cudaStreamIsCapturing");
    __atomic_store_n(&asked, 1, __ATOMIC_RELEASE);
  }
  return ask && ask(stream, &status) == cudaSuccess && status == cudaStreamCaptureStatusNone;
}

static void raise_highest(uint32_t used) {
  uint32_t seen = RF_LOAD(&highest);
  while (seen < used &&
         !__atomic_compare_exchange_n(&highest, &seen, used, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}

void rf_stream_enqueued(cudaStream_t stream, const struct rf_call* call, enum rf_enqueued_how how) {
  if (!is_plain(stream)) return;
  for (int tries = 0; tries < kWindow; ++tries) {
    const uint32_t at = __atomic_fetch_add(&next_entry, 1, __ATOMIC_RELAXED) % kEntries;
    struct entry* const e = &entries[at];
    uint32_t vacant = kFree;
    if (!__atomic_compare_exchange_n(&e->state, &vacant, (uint32_t)kFilling, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
      continue;
    e->comm = call->comm;
    e->stream = (uint64_t)(uintptr_t)stream;
    e->thread = (uint64_t)pthread_self();
    e->origin = RF_ORIGIN(call->lane, call->number);
    /* Only operations have a place in the communicator's order. */
    e->seq = call->seq == RF_SEQ_NONE || call->op == RF_OP_SEND || call->op == RF_OP_RECV ? 0 : call->seq;
    e->stamp = stamp();
    raise_highest(at + 1);
    RF_STORE(&e->state, (uint32_t)(how == RF_ENQUEUED_NOW ? kOnStream : kInGroup));
    return;
  }
}

void rf_stream_group_ended(int launched) {
  const uint64_t me = (uint64_t)pthread_self();
  for (uint32_t i = 0; i < RF_LOAD(&highest); ++i) {
    struct entry* const e = &entries[i];
    if (RF_LOAD(&e->state) != kInGroup || e->thread != me) continue;
    e->stamp = stamp();
    RF_STORE(&e->state, (uint32_t)(launched ? kOnStream : kFree));
  }
}

/* `before`: the stamp taken before the wait; what other threads added meanwhile was not waited for. */
static void drained(cudaStream_t stream, uint64_t before) {
  for (uint32_t i = 0; i < RF_LOAD(&highest); ++i) {
    struct entry* const e = &entries[i];
    uint32_t on_stream = kOnStream;
    if (RF_LOAD(&e->state) != kOnStream || e->stream != (uint64_t)(uintptr_t)stream || e->stamp > before)
      continue;
    const struct entry seen = *e;
    if (__atomic_compare_exchange_n(&e->state, &on_stream, (uint32_t)kFree, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED))
      rf_core->complete(seen.origin, seen.comm, seen.seq, 0);
  }
}

static void name_pending(cudaStream_t stream, struct rf_call* call) {
  for (uint32_t i = 0; i < RF_LOAD(&highest); ++i) {
    if (RF_LOAD(&entries[i].state) != kOnStream || entries[i].stream != (uint64_t)(uintptr_t)stream) continue;
    if (call->pending_count < 2) call->pending[call->pending_count] = entries[i].origin;
    ++call->pending_count;
  }
}

cudaError_t wrap_cudaStreamSynchronize(cudaStream_t stream) {
  if (rf_core->in_call()) return NEXT(cudaStreamSynchronize)(stream);
  struct rf_call call = rf_call_on(RF_OP_STREAM_WAIT, NULL, WHERE);
  call.library = RF_LIB_CUDA;
  name_pending(stream, &call);
  const uint64_t before = stamp();
  const enum rf_verdict verdict = rf_core->begin(&call);
  const cudaError_t rc = verdict == RF_DO_FORWARD ? NEXT(cudaStreamSynchronize)(stream) : cudaErrorUnknown;
  if (verdict == RF_DO_FORWARD && rc == cudaSuccess) drained(stream, before);
  rf_core->end(&call, (int)rc);
  return rc;
}

cudaError_t wrap_cudaStreamQuery(cudaStream_t stream) {
  const uint64_t before = stamp();
  const cudaError_t rc = NEXT(cudaStreamQuery)(stream);
  if (rc == cudaSuccess && !rf_core->in_call()) drained(stream, before);
  return rc;
}
