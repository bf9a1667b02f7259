/* streams.c: the tables behind streams.h: the operations that are pending, and which stream waited for which.
 *
 * Several threads write and read them without a lock. The state word of an entry holds how often it was used:
 * whoever takes an entry away took the very one that he has read. */
#include "streams.h"

#include <pthread.h>

enum { kEntries = 4096, kWindow = 64, kOrders = 1024, kDepth = 4 };
enum state { kFree, kFilling, kInGroup, kAccepted, kOnStream, kStates = 8 };

static struct entry {
  uint32_t state; /* of enum state, + kStates * how often it was used */
  uint32_t comm;
  uint64_t stamp; /* when it was put on the stream */
  uint64_t stream, thread, origin, seq;
  int32_t device;        /* of its communicator; -1 unknown */
  int32_t before_legacy; /* the legacy default stream waits for its stream */
} entries[kEntries];
static uint64_t stamps;
static uint32_t next_entry;
static uint32_t highest; /* entries in use end here */
static uint32_t in_use;
static uint8_t given_up[RF_MAX_COMMS]; /* aborted or revoked: what leaves its streams then is not complete */

/* What is on `stream` after `at` comes after what is on `earlier` before `until`. The oldest is forgotten. */
static struct order {
  uint64_t version; /* odd: being written */
  uint64_t stream, at, earlier, until;
} orders[kOrders];
static uint64_t next_order;

uint64_t rf_stream_position(void) { return __atomic_add_fetch(&stamps, 1, __ATOMIC_ACQ_REL); }

/* Each thread has a per-thread default stream of its own, all under one handle. */
uint64_t rf_stream_key(cudaStream_t stream) {
  if (stream == cudaStreamLegacy) return 0;
  if (stream == cudaStreamPerThread) return (uint64_t)pthread_self() | 2;
  return (uint64_t)(uintptr_t)stream;
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
  if (rf_stream_key(stream) == 0) return 1;
  if (!__atomic_load_n(&asked, __ATOMIC_ACQUIRE)) {
    ask = (cudaError_t(*)(cudaStream_t, unsigned*))rf_core->resolve("cudaStreamGetFlags");
    __atomic_store_n(&asked, 1, __ATOMIC_RELEASE);
  }
  return ask && ask(stream, &flags) == cudaSuccess && !(flags & cudaStreamNonBlocking);
}

static enum state state_of(uint32_t word) { return (enum state)(word % kStates); }
static uint32_t with_state(uint32_t word, enum state state) { return word - word % kStates + state; }
static int move(struct entry* e, uint32_t word, uint32_t to) {
  return __atomic_compare_exchange_n(&e->state, &word, to, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}
/* True for one of those who try. */
static int take_away(struct entry* e, uint32_t word) {
  if (!move(e, word, with_state(word, kFree))) return 0;
  __atomic_sub_fetch(&in_use, 1, __ATOMIC_RELAXED);
  return 1;
}

static void raise_highest(uint32_t used) {
  uint32_t seen = RF_LOAD(&highest);
  while (seen < used &&
         !__atomic_compare_exchange_n(&highest, &seen, used, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}

void rf_stream_enqueued(cudaStream_t stream, const struct rf_call* call, enum rf_enqueued_how how) {
  static const enum state kAs[] = {
      [RF_ENQUEUED_NOW] = kOnStream, [RF_ENQUEUED_AT_GROUP_END] = kInGroup, [RF_ENQUEUED_LATER] = kAccepted};
  if (call->comm < RF_MAX_COMMS && given_up[call->comm]) return;
  if (!rf_stream_is_plain(stream)) { /* it runs with each launch of a graph, and nobody counts those */
    rf_core->opaque(RF_OPAQUE_COMMUNICATION);
    return;
  }
  for (int tries = 0; tries < kWindow; ++tries) {
    const uint32_t at = __atomic_fetch_add(&next_entry, 1, __ATOMIC_RELAXED) % kEntries;
    struct entry* const e = &entries[at];
    const uint32_t word = RF_LOAD(&e->state), used = with_state(word, kFree) + kStates;
    if (state_of(word) != kFree || !move(e, word, used + kFilling)) continue;
    __atomic_add_fetch(&in_use, 1, __ATOMIC_RELAXED);
    e->comm = call->comm;
    e->stream = rf_stream_key(stream);
    e->thread = (uint64_t)pthread_self();
    e->origin = RF_ORIGIN(call->lane, call->number);
    /* Only operations have a place in the communicator's order. */
    e->seq = call->seq == RF_SEQ_NONE || call->op == RF_OP_SEND || call->op == RF_OP_RECV ? 0 : call->seq;
    e->device = rf_comm_device(call->comm);
    e->before_legacy = is_before_legacy(stream);
    e->stamp = rf_stream_position();
    raise_highest(at + 1);
    RF_STORE(&e->state, used + kAs[how]);
    return;
  }
  if (how != RF_ENQUEUED_NOW)
    rf_core->opaque(RF_OPAQUE_COMMUNICATION); /* nobody would know if it were refused */
}

static void fail(struct entry* e, uint32_t word, ncclResult_t rc) {
  const struct entry seen = *e;
  if (take_away(e, word)) rf_core->complete(seen.origin, seen.comm, seen.seq, (int)rc);
}

void rf_stream_group_ended(enum rf_group_result result, ncclResult_t rc) {
  const uint64_t me = (uint64_t)pthread_self();
  if (RF_LOAD(&in_use) == 0) return;
  for (uint32_t i = 0; i < RF_LOAD(&highest); ++i) {
    struct entry* const e = &entries[i];
    const uint32_t word = RF_LOAD(&e->state);
    if (state_of(word) != kInGroup || e->thread != me) continue;
    e->stamp = rf_stream_position();
    if (result == RF_GROUP_REFUSED)
      fail(e, word, rc);
    else
      move(e, word, with_state(word, result == RF_GROUP_LAUNCHED ? kOnStream : kAccepted));
  }
}

void rf_stream_failed(uint32_t comm, ncclResult_t rc) {
  for (uint32_t i = 0; RF_LOAD(&in_use) != 0 && i < RF_LOAD(&highest); ++i) {
    const uint32_t word = RF_LOAD(&entries[i].state);
    if (state_of(word) == kAccepted && entries[i].comm == comm) fail(&entries[i], word, rc);
  }
}

void rf_stream_idle(uint32_t comm, uint64_t before) {
  if (RF_LOAD(&in_use) == 0) return;
  for (uint32_t i = 0; i < RF_LOAD(&highest); ++i) {
    struct entry* const e = &entries[i];
    const uint32_t word = RF_LOAD(&e->state);
    if (state_of(word) != kAccepted || e->comm != comm || e->stamp > before) continue;
    /* Out of sight while its place in the stream is written: another thread may be told the same. */
    if (!move(e, word, with_state(word, kFilling))) continue;
    e->stamp = rf_stream_position();
    RF_STORE(&e->state, with_state(word, kOnStream));
    if (__atomic_load_n(&given_up[comm % RF_MAX_COMMS], __ATOMIC_SEQ_CST))
      take_away(e, with_state(word, kOnStream));
  }
}

void rf_stream_forget(uint32_t comm) {
  if (comm < RF_MAX_COMMS) __atomic_store_n(&given_up[comm], (uint8_t)1, __ATOMIC_SEQ_CST);
  for (uint32_t i = 0; i < RF_LOAD(&highest); ++i) {
    const uint32_t word = RF_LOAD(&entries[i].state);
    if (state_of(word) >= kInGroup && entries[i].comm == comm) take_away(&entries[i], word);
  }
}

void rf_stream_gone(cudaStream_t stream) {
  const uint64_t key = rf_stream_key(stream);
  for (uint32_t i = 0; i < RF_LOAD(&highest); ++i) {
    const uint32_t word = RF_LOAD(&entries[i].state);
    if (state_of(word) >= kInGroup && entries[i].stream == key) take_away(&entries[i], word);
  }
  for (uint32_t i = 0; i < kOrders; ++i)
    if (orders[i].stream == key) __atomic_store_n(&orders[i].until, (uint64_t)0, __ATOMIC_RELEASE);
}

void rf_stream_comes_after(cudaStream_t stream, const struct rf_extent* earlier) {
  if (!rf_stream_is_plain(stream) || !rf_extent_has_pending(earlier)) return;
  struct order* const o = &orders[__atomic_fetch_add(&next_order, 1, __ATOMIC_RELAXED) % kOrders];
  const uint64_t version = RF_LOAD(&o->version);
  uint64_t even = version;
  if (version % 2 != 0 ||
      !__atomic_compare_exchange_n(&o->version, &even, version + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return; /* a lap of the ring ago somebody began to write here: not known, then */
  o->stream = rf_stream_key(stream);
  o->earlier = earlier->stream;
  o->until = earlier->until;
  o->at = rf_stream_position();
  RF_STORE(&o->version, version + 2);
}

static int covers(const struct rf_extent* extent, const struct entry* e) {
  if (e->stamp > extent->until) return 0;
  switch (extent->kind) {
    case RF_ON_STREAM:
      return e->stream == extent->stream;
    case RF_ON_DEVICE:
      return e->device >= 0 && e->device == extent->device;
    case RF_BEFORE_LEGACY:
      return e->device >= 0 && e->device == extent->device && e->before_legacy;
    default:
      return 0;
  }
}

/* Calls `visit` for each pending entry in the extent; false from it ends the walk. */
typedef int visit(struct entry*, uint32_t word, void* context);
static int walk(const struct rf_extent* extent, int depth, visit* each, void* context) {
  if (extent->kind == RF_NOTHING || RF_LOAD(&in_use) == 0) return 1;
  for (uint32_t i = 0; i < RF_LOAD(&highest); ++i) {
    const uint32_t word = RF_LOAD(&entries[i].state);
    if (state_of(word) == kOnStream && covers(extent, &entries[i]) && !each(&entries[i], word, context))
      return 0;
  }
  const uint64_t written = RF_LOAD(&next_order);
  for (uint64_t i = 0; extent->kind == RF_ON_STREAM && depth < kDepth && i < kOrders && i < written; ++i) {
    const uint64_t version = RF_LOAD(&orders[i].version);
    const struct order o = orders[i];
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (version % 2 != 0 || RF_LOAD(&orders[i].version) != version) continue;
    if (o.until == 0 || o.stream != extent->stream || o.at > extent->until) continue;
    const struct rf_extent earlier = {.kind = RF_ON_STREAM, .stream = o.earlier, .until = o.until};
    if (!walk(&earlier, depth + 1, each, context)) return 0;
  }
  return 1;
}

static int stop_at_first(struct entry* e, uint32_t word, void* context) {
  (void)e, (void)word, (void)context;
  return 0;
}
int rf_extent_has_pending(const struct rf_extent* extent) { return !walk(extent, 0, stop_at_first, NULL); }

static int complete(struct entry* e, uint32_t word, void* context) {
  const struct entry seen = *e;
  (void)context;
  if (take_away(e, word)) rf_core->complete(seen.origin, seen.comm, seen.seq, 0);
  return 1;
}
void rf_extent_complete(const struct rf_extent* extent) { walk(extent, 0, complete, NULL); }

struct newest {
  uint64_t* origins;
  uint64_t stamps[RF_MOST_NAMED];
  int most, count;
  uint32_t all;
};
static int keep_if_new(struct entry* e, uint32_t word, void* context) {
  struct newest* const n = context;
  const uint64_t stamp = e->stamp, origin = e->origin;
  if (RF_LOAD(&e->state) != word) return 1; /* no longer what was looked at */
  for (int i = 0; i < n->count; ++i)
    if (n->origins[i] == origin) return 1; /* by another way already */
  ++n->all;
  int at = n->count;
  if (at == n->most) { /* full: the oldest goes */
    if (stamp < n->stamps[0]) return 1;
    for (int i = 1; i < at; ++i) n->stamps[i - 1] = n->stamps[i], n->origins[i - 1] = n->origins[i];
    --at;
  } else {
    ++n->count;
  }
  for (; at > 0 && n->stamps[at - 1] > stamp; --at)
    n->stamps[at] = n->stamps[at - 1], n->origins[at] = n->origins[at - 1];
  n->stamps[at] = stamp;
  n->origins[at] = origin;
  return 1;
}
int rf_extent_pending(const struct rf_extent* extent, uint64_t* origins, int most, uint32_t* all) {
  struct newest n = {.origins = origins, .most = most < RF_MOST_NAMED ? most : RF_MOST_NAMED};
  walk(extent, 0, keep_if_new, &n);
  *all = n.all;
  return n.count;
}
