/* streams.c: the states of an operation: enqueued, in a group, accepted, on its stream, refused, given up. */
#include <pthread.h>

#include "entries.h"

enum { kWindow = 64 };

struct rf_entry rf_entries[RF_ENTRIES];
uint32_t rf_entries_waiting;
static uint32_t in_use;     /* how many entries are not free, at least: it grows before next_entry does */
static uint32_t next_entry; /* number of the next entry */
static uint64_t stamps;
/* Index: the communicator's entry; value: its number + 1, if it was aborted or revoked. Its operations then
 * leave their streams without being complete. */
static uint32_t given_up[RF_MAX_COMMS];

static int is_given_up(uint32_t comm) {
  return comm != RF_NO_COMM && __atomic_load_n(&given_up[RF_COMM_SLOT(comm)], __ATOMIC_SEQ_CST) == comm + 1;
}

uint64_t rf_stream_position(void) { return __atomic_add_fetch(&stamps, 1, __ATOMIC_ACQ_REL); }

int rf_current_device(void) {
  static cudaError_t (*get)(int*);
  int device = -1;
  if (!RF_LOAD(&get)) RF_STORE(&get, (cudaError_t(*)(int*))rf_core->resolve("cudaGetDevice"));
  return get && get(&device) == cudaSuccess ? device : -1;
}

static int is_legacy(cudaStream_t stream) { return !stream || stream == cudaStreamLegacy; }
static int is_default(cudaStream_t stream) { return is_legacy(stream) || stream == cudaStreamPerThread; }

uint64_t rf_stream_key(cudaStream_t stream, int device) {
  if (!is_default(stream)) return (uint64_t)(uintptr_t)stream;
  if (device < 0) return RF_NO_STREAM;
  const uint64_t thread = is_legacy(stream) ? 0 : (uint64_t)pthread_self() | 2;
  return thread ^ (uint64_t)(device + 1) << 48 ^ 1; /* not a handle: those are even and below 2^48 */
}

uint64_t rf_stream_key_here(cudaStream_t stream) {
  return rf_stream_key(stream, is_default(stream) ? rf_current_device() : -1);
}

struct rf_extent rf_extent_of_stream(cudaStream_t stream) {
  struct rf_extent extent = {.stream = rf_stream_key_here(stream), .until = rf_stream_position()};
  extent.kind = extent.stream == RF_NO_STREAM ? RF_NOTHING : RF_ON_STREAM;
  return extent;
}

static uint64_t streams_gone;

int32_t rf_stream_number(cudaStream_t stream, int device) {
  const uint64_t key = rf_stream_key(stream, device);
  const uint64_t words[] = {key, __atomic_load_n(&streams_gone, __ATOMIC_RELAXED)};
  if (key == RF_NO_STREAM) return 0;
  const int32_t number = RF_TAG_OF_ID(rf_hash_bytes(0, words, sizeof(words)));
  return number ? number : 1;
}

int rf_stream_is_plain(cudaStream_t stream) {
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

static int is_before_legacy(cudaStream_t stream) {
  static cudaError_t (*ask)(cudaStream_t, unsigned*);
  static int asked;
  unsigned flags = cudaStreamNonBlocking;
  if (is_legacy(stream)) return 1;
  if (!__atomic_load_n(&asked, __ATOMIC_ACQUIRE)) {
    ask = (cudaError_t(*)(cudaStream_t, unsigned*))rf_core->resolve("cudaStreamGetFlags");
    __atomic_store_n(&asked, 1, __ATOMIC_RELEASE);
  }
  return ask && ask(stream, &flags) == cudaSuccess && !(flags & cudaStreamNonBlocking);
}

/* Goes back from the newest entry until it has seen as many entries as are in use. An entry that other
 * threads reuse meanwhile is counted for the one that it replaced, so it ends the search only while none was
 * reused. */
struct rf_span rf_entries_span(void) {
  const uint32_t end = RF_LOAD(&next_entry);
  uint32_t begin = end;
  for (uint32_t left = RF_LOAD(&in_use); end - begin < RF_ENTRIES;) {
    if (left == 0 && RF_LOAD(&next_entry) - begin <= RF_ENTRIES) break;
    const uint32_t word = RF_LOAD(&rf_entries[--begin % RF_ENTRIES].state);
    if (state_of(word) != kFree && left > 0) --left;
  }
  return (struct rf_span){begin, end};
}

static void count(uint32_t* counter, int by) { __atomic_add_fetch(counter, (uint32_t)by, __ATOMIC_ACQ_REL); }

int take_away(struct rf_entry* e, uint32_t word) {
  if (!move(e, word, with_state(word, kFree))) return 0;
  if (is_waiting(word)) count(&rf_entries_waiting, -1);
  count(&in_use, -1);
  return 1;
}

void rf_stream_enqueued(cudaStream_t stream, const struct rf_call* call, enum rf_enqueued_how how) {
  static const enum rf_entry_state kAs[] = {
      [RF_ENQUEUED_NOW] = kOnStream, [RF_ENQUEUED_AT_GROUP_END] = kInGroup, [RF_ENQUEUED_LATER] = kAccepted};
  if (is_given_up(call->comm)) return;
  if (!rf_stream_is_plain(stream)) { /* it runs with each launch of a graph, and these are not counted */
    rf_core->opaque(RF_OPAQUE_COMMUNICATION);
    return;
  }
  const int waits = how != RF_ENQUEUED_NOW;
  count(&in_use, 1);
  if (waits) count(&rf_entries_waiting, 1);
  for (int tries = 0; tries < kWindow; ++tries) {
    const uint32_t at = __atomic_fetch_add(&next_entry, 1, __ATOMIC_ACQ_REL) % RF_ENTRIES;
    struct rf_entry* const e = &rf_entries[at];
    const uint32_t word = RF_LOAD(&e->state), used = with_state(word, kFree) + kStates;
    if (state_of(word) != kFree || !move(e, word, used + kFilling)) continue;
    e->comm = call->comm;
    e->device = rf_comm_device(call->comm);
    e->stream = rf_stream_key(stream, e->device);
    e->thread = (uint64_t)pthread_self();
    e->origin = RF_ORIGIN(call->lane, call->number);
    /* Only operations have a place in the communicator's order. */
    e->seq = call->seq == RF_SEQ_NONE || call->op == RF_OP_SEND || call->op == RF_OP_RECV ? 0 : call->seq;
    e->before_legacy = is_before_legacy(stream);
    e->stamp = rf_stream_position();
    RF_STORE(&e->state, used + kAs[how]);
    return;
  }
  count(&in_use, -1);
  if (!waits) return;
  count(&rf_entries_waiting, -1);
  rf_core->opaque(RF_OPAQUE_COMMUNICATION); /* a later refusal would go unnoticed */
}

static void fail(struct rf_entry* e, uint32_t word, ncclResult_t rc) {
  const struct rf_entry seen = *e;
  if (take_away(e, word)) rf_core->complete(seen.origin, seen.comm, seen.seq, (int)rc);
}

void rf_stream_group_ended(enum rf_group_result result, ncclResult_t rc) {
  const uint64_t me = (uint64_t)pthread_self();
  if (RF_LOAD(&rf_entries_waiting) == 0) return;
  const struct rf_span span = rf_entries_span();
  for (uint32_t i = span.begin; i != span.end; ++i) {
    struct rf_entry* const e = &rf_entries[i % RF_ENTRIES];
    const uint32_t word = RF_LOAD(&e->state);
    if (state_of(word) != kInGroup || e->thread != me) continue;
    e->stamp = rf_stream_position();
    if (result == RF_GROUP_REFUSED)
      fail(e, word, rc);
    else if (result != RF_GROUP_LAUNCHED)
      move(e, word, with_state(word, kAccepted));
    else if (move(e, word, with_state(word, kOnStream)))
      count(&rf_entries_waiting, -1);
  }
}

void rf_stream_failed(uint32_t comm, ncclResult_t rc) {
  if (RF_LOAD(&rf_entries_waiting) == 0) return;
  const struct rf_span span = rf_entries_span();
  for (uint32_t i = span.begin; i != span.end; ++i) {
    struct rf_entry* const e = &rf_entries[i % RF_ENTRIES];
    const uint32_t word = RF_LOAD(&e->state);
    if (state_of(word) == kAccepted && e->comm == comm) fail(e, word, rc);
  }
}

void rf_stream_idle(uint32_t comm, uint64_t before) {
  if (RF_LOAD(&rf_entries_waiting) == 0) return; /* NCCL asks for this state in each call */
  const struct rf_span span = rf_entries_span();
  for (uint32_t i = span.begin; i != span.end; ++i) {
    struct rf_entry* const e = &rf_entries[i % RF_ENTRIES];
    const uint32_t word = RF_LOAD(&e->state);
    if (state_of(word) != kAccepted || e->comm != comm || e->stamp > before) continue;
    /* Hidden while its place in the stream is written: another thread may get the same news. */
    if (!move(e, word, with_state(word, kFilling))) continue;
    count(&rf_entries_waiting, -1);
    e->stamp = rf_stream_position();
    RF_STORE(&e->state, with_state(word, kOnStream));
    if (is_given_up(comm)) take_away(e, with_state(word, kOnStream));
  }
}

static void take_away_all(uint32_t comm, const uint64_t* stream) {
  const struct rf_span span = rf_entries_span();
  for (uint32_t i = span.begin; i != span.end; ++i) {
    struct rf_entry* const e = &rf_entries[i % RF_ENTRIES];
    const uint32_t word = RF_LOAD(&e->state);
    if (state_of(word) >= kInGroup && (stream ? e->stream == *stream : e->comm == comm)) take_away(e, word);
  }
}

void rf_stream_forget(uint32_t comm) {
  if (comm != RF_NO_COMM) __atomic_store_n(&given_up[RF_COMM_SLOT(comm)], comm + 1, __ATOMIC_SEQ_CST);
  take_away_all(comm, NULL);
}

void rf_stream_gone(cudaStream_t stream) {
  __atomic_add_fetch(&streams_gone, 1, __ATOMIC_RELAXED);
  const uint64_t key = rf_stream_key_here(stream);
  take_away_all(RF_NO_COMM, &key);
  rf_orders_forget(key);
}
