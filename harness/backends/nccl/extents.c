/* extents.c: the pending operations that a wait covers, and the order between streams. */
#include "entries.h"

enum { kOrders = 1024, kStreams = 32 };

/* Work on `stream` after `at` comes after the work on `earlier` before `until`. The oldest order is
 * forgotten. */
static struct order {
  uint64_t version; /* odd: being written */
  uint64_t stream, at, earlier, until;
} orders[kOrders];
static uint64_t next_order;

void rf_orders_forget(uint64_t stream) {
  for (uint32_t i = 0; i < kOrders; ++i)
    if (orders[i].stream == stream) __atomic_store_n(&orders[i].until, (uint64_t)0, __ATOMIC_RELEASE);
}

void rf_stream_comes_after(cudaStream_t stream, const struct rf_extent* earlier) {
  const uint64_t on = rf_stream_key_here(stream);
  if (on == RF_NO_STREAM || !rf_stream_is_plain(stream) || !rf_extent_has_pending(earlier)) return;
  struct order* const o = &orders[__atomic_fetch_add(&next_order, 1, __ATOMIC_RELAXED) % kOrders];
  const uint64_t version = RF_LOAD(&o->version);
  uint64_t even = version;
  if (version % 2 != 0 ||
      !__atomic_compare_exchange_n(&o->version, &even, version + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return; /* another thread began to write here one lap of the ring ago: the order stays unknown */
  o->stream = on;
  o->earlier = earlier->stream;
  o->until = earlier->until;
  o->at = rf_stream_position();
  RF_STORE(&o->version, version + 2);
}

/* The reach of an extent: the work on each of these streams before its `until`. Further streams are left out,
 * and the work on them stays pending. */
struct reach {
  int count;
  struct reached {
    uint64_t stream, until;
    int followed;
  } streams[kStreams];
};

static struct reached* find(const struct reach* reach, uint64_t stream) {
  for (int i = 0; i < reach->count; ++i)
    if (reach->streams[i].stream == stream) return (struct reached*)&reach->streams[i];
  return NULL;
}

static void reaches(struct reach* reach, uint64_t stream, uint64_t until) {
  struct reached* const known = find(reach, stream);
  if (known) {
    if (known->until < until) known->until = until;
  } else if (reach->count < kStreams) {
    reach->streams[reach->count++] = (struct reached){.stream = stream, .until = until};
  }
}

static struct reached* farthest_not_followed(struct reach* reach) {
  struct reached* farthest = NULL;
  for (int i = 0; i < reach->count; ++i) {
    struct reached* const r = &reach->streams[i];
    if (!r->followed && (!farthest || r->until > farthest->until)) farthest = r;
  }
  return farthest;
}

static void follow(struct reach* reach, const struct reached from) {
  const uint64_t written = RF_LOAD(&next_order);
  for (uint64_t i = 0; i < kOrders && i < written; ++i) {
    const uint64_t version = RF_LOAD(&orders[i].version);
    const struct order o = orders[i];
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (version % 2 != 0 || RF_LOAD(&orders[i].version) != version) continue;
    if (o.until != 0 && o.stream == from.stream && o.at <= from.until) reaches(reach, o.earlier, o.until);
  }
}

/* A wait never covers more than the work before it. So no other stream extends the farthest stream that is
 * not yet followed, and each stream is followed once, however often two have waited for each other. */
static void find_reach(const struct rf_extent* extent, struct reach* reach) {
  if (extent->kind != RF_ON_STREAM) return;
  reaches(reach, extent->stream, extent->until);
  for (struct reached* next; (next = farthest_not_followed(reach)) != NULL;) {
    next->followed = 1;
    follow(reach, *next);
  }
}

static int covers(const struct rf_extent* extent, const struct reach* reach, const struct rf_entry* e) {
  if (extent->kind == RF_ON_STREAM) {
    const struct reached* const stream = find(reach, e->stream);
    return stream && e->stamp <= stream->until;
  }
  if (e->stamp > extent->until || e->device < 0 || e->device != extent->device) return 0;
  return extent->kind == RF_ON_DEVICE || (extent->kind == RF_BEFORE_LEGACY && e->before_legacy);
}

/* Calls `visit` for each pending entry in the extent, once; false from it ends the walk. */
typedef int visit(struct rf_entry*, uint32_t word, void* context);
static int walk(const struct rf_extent* extent, visit* each, void* context) {
  const struct rf_span span = rf_entries_span();
  if (extent->kind == RF_NOTHING || span.begin == span.end) return 1;
  struct reach reach = {.count = 0};
  find_reach(extent, &reach);
  for (uint32_t i = span.begin; i != span.end; ++i) {
    struct rf_entry* const e = &rf_entries[i % RF_ENTRIES];
    const uint32_t word = RF_LOAD(&e->state);
    if (state_of(word) == kOnStream && covers(extent, &reach, e) && !each(e, word, context)) return 0;
  }
  return 1;
}

static int stop_at_first(struct rf_entry* e, uint32_t word, void* context) {
  (void)e, (void)word, (void)context;
  return 0;
}
int rf_extent_has_pending(const struct rf_extent* extent) { return !walk(extent, stop_at_first, NULL); }

static int complete(struct rf_entry* e, uint32_t word, void* context) {
  const struct rf_entry seen = *e;
  (void)context;
  if (take_away(e, word)) rf_core->complete(seen.origin, seen.comm, seen.seq, 0);
  return 1;
}
void rf_extent_complete(const struct rf_extent* extent) { walk(extent, complete, NULL); }

struct newest {
  uint64_t* origins;
  uint64_t stamps[RF_MOST_NAMED];
  int most, count;
  uint32_t all;
};
static int keep_if_new(struct rf_entry* e, uint32_t word, void* context) {
  struct newest* const n = context;
  const uint64_t stamp = e->stamp, origin = e->origin;
  if (RF_LOAD(&e->state) != word) return 1; /* it changed after it was read */
  ++n->all;
  int at = n->count;
  if (at == n->most) { /* full: the oldest is dropped */
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
  walk(extent, keep_if_new, &n);
  *all = n.all;
  return n.count;
}
