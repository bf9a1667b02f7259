/* comms.c: the table of communicators. When every entry has been used, the table reuses the entry of a freed
 * communicator: the longest freed first, so that entries which other members still compare with stay as long
 * as possible. */
#include <string.h>

#include "harness/agent/agent.h"
#include "harness/agent/lock.h"

static struct { /* the keys of comm_find, more compact than the entries of the record */
  uint64_t handle;
  uint32_t tag;
  uint32_t library; /* + 1, stored last; 0: unused */
} keys[RF_MAX_COMMS];
static uint32_t made_of_library[RF_MAX_LIBRARIES];
static uint64_t freed_as[RF_MAX_COMMS]; /* order of the frees */
static uint64_t freed;
static struct rf_lock adding;

static int is_key(uint32_t i, uint8_t library, uint64_t handle, uint32_t tag) {
  return RF_LOAD(&keys[i].library) == (uint32_t)library + 1 && keys[i].handle == handle && keys[i].tag == tag;
}

/* The index at which a handle was last found, so that a call costs the same whatever the number of
 * communicators. A hint may be wrong at any time: the key decides. */
static uint8_t* hint_of(uint64_t handle, uint32_t tag) {
  static uint8_t hints[RF_MAX_COMMS];
  _Static_assert(RF_MAX_COMMS <= 256, "an index fits a hint");
  return &hints[((handle ^ tag) * 0x9e3779b97f4a7c15ull >> 56) % RF_MAX_COMMS];
}

void rf_comms_reset(void) {
  memset(keys, 0, sizeof(keys));
  memset(made_of_library, 0, sizeof(made_of_library));
  memset(freed_as, 0, sizeof(freed_as));
  freed = 0;
  rf_members_reset();
}

/* Returns the longest freed entry that may be reused or, with_members, whose member list may be reused. */
static struct rf_comm* longest_freed(int with_members) {
  const uint32_t used = RF_LOAD(&rf_head->comms_used);
  struct rf_comm* best = NULL;
  for (struct rf_comm* c = rf_comms; c < rf_comms + used; ++c) {
    const uint32_t state = RF_LOAD(&c->state);
    if (state != RF_COMM_DESTROYED && (state != RF_COMM_FREE || with_members)) continue;
    if (with_members ? c->members == RF_NO_MEMBERS : c->number >= RF_NO_COMM - RF_MAX_COMMS) continue;
    if (!best || freed_as[c - rf_comms] < freed_as[best - rf_comms]) best = c;
  }
  return best;
}

/* Returns an entry in state FILLING with counters at 0. */
static struct rf_comm* claim_entry(void) {
  const uint32_t used = RF_LOAD(&rf_head->comms_used);
  const int fresh = used < RF_MAX_COMMS;
  struct rf_comm* c = fresh ? &rf_comms[used] : longest_freed(0);
  if (!c) return NULL;
  const uint32_t number = fresh ? used : c->number + RF_MAX_COMMS;
  RF_STORE(&c->state, (uint32_t)RF_COMM_FILLING);
  __atomic_thread_fence(__ATOMIC_SEQ_CST); /* a reader that sees a word of the new one also sees FILLING */
  if (!fresh) rf_members_release(c->members);
  memset(c, 0, offsetof(struct rf_comm, state));
  memset((char*)c + offsetof(struct rf_comm, flags), 0, sizeof(*c) - offsetof(struct rf_comm, flags));
  RF_STORE(&c->number, number);
  if (fresh) RF_STORE(&rf_head->comms_used, used + 1);
  return c;
}

/* When the member table is full, the communicator that was freed longest ago leaves it. */
static uint32_t keep_members(const int32_t* ranks, uint32_t size) {
  if (!ranks || size == 0) return RF_NO_MEMBERS;
  for (;;) {
    const uint32_t at = rf_members_keep(ranks, size);
    struct rf_comm* freed_one = at == RF_NO_MEMBERS ? longest_freed(1) : NULL;
    if (!freed_one) {
      if (at == RF_NO_MEMBERS) rf_set_partial(RF_PARTIAL_MEMBERS);
      return at;
    }
    RF_STORE(&freed_one->state, (uint32_t)RF_COMM_FREE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    rf_members_release(freed_one->members);
    freed_one->members = RF_NO_MEMBERS;
  }
}

/* For plain Gloo, a later tag of one context belongs to the communicator of its first tag. A persistent
 * collective belongs to the communicator that it was prepared on. */
static const struct rf_comm* owner_of_stream(const struct rf_comm_info* info) {
  if (!info->parent || (info->library != RF_LIB_GLOO && !(info->flags & RF_COMM_STREAM))) return NULL;
  const uint32_t used = RF_LOAD(&rf_head->comms_used);
  for (uint32_t i = 0; i < used && i < RF_MAX_COMMS; ++i)
    if (rf_comms[i].library == info->library && rf_comms[i].id == info->parent &&
        RF_LOAD(&rf_comms[i].state) == RF_COMM_LIVE)
      return &rf_comms[i];
  return NULL;
}

int rf_has_live_world(uint8_t library) {
  const uint32_t used = RF_LOAD(&rf_head->comms_used);
  for (uint32_t i = 0; i < used && i < RF_MAX_COMMS; ++i)
    if (rf_comms[i].library == library && (RF_LOAD(&rf_comms[i].flags) & RF_COMM_WORLD) &&
        RF_LOAD(&rf_comms[i].state) == RF_COMM_LIVE)
      return 1;
  return 0;
}

static void place(struct rf_comm* c, const struct rf_comm_info* info) {
  const struct rf_comm* owner = owner_of_stream(info);
  const uint32_t over_all = (uint32_t)RF_LOAD(&rf_head->world_size);
  c->flags = info->flags & ~(uint32_t)RF_COMM_WORLD;
  if (owner) {
    c->ordinal = owner->ordinal;
    c->flags |= owner->flags & RF_COMM_WORLD;
    if (c->members == RF_NO_MEMBERS) rf_members_share(c->members = owner->members);
    if (c->name == 0) c->name = owner->name;
    return;
  }
  c->ordinal = __atomic_fetch_add(&made_of_library[info->library % RF_MAX_LIBRARIES], 1, __ATOMIC_RELAXED);
  if (info->size && info->size == over_all && !(info->flags & RF_COMM_INTER) &&
      !rf_has_live_world(info->library))
    c->flags |= RF_COMM_WORLD;
}

static uint32_t add_locked(const struct rf_comm_info* info) {
  struct rf_comm* c = claim_entry();
  if (!c) return RF_NO_COMM;
  c->id = info->id;
  c->parent = info->parent;
  c->parent_seq = info->parent_seq;
  c->members_hash = info->members_hash;
  c->handle = info->handle;
  c->created_ns = rf_now();
  c->size = info->size;
  c->rank = info->rank;
  c->members = keep_members(info->world_ranks, info->size);
  c->name = rf_comm_name(info->name);
  c->tag = info->tag;
  c->library = info->library;
  c->identity = info->identity;
  c->timeout_ns = info->timeout_ns;
  place(c, info);
  RF_STORE(&c->state, (uint32_t)RF_COMM_LIVE);
  const uint32_t at = RF_COMM_SLOT(c->number);
  keys[at].handle = info->handle;
  keys[at].tag = info->tag;
  RF_STORE(&keys[at].library, (uint32_t)info->library + 1);
  __atomic_store_n(hint_of(info->handle, info->tag), (uint8_t)at,
                   __ATOMIC_RELAXED); /* the newest one of a handle */
  return c->number;
}

uint32_t rf_comm_add(const struct rf_comm_info* info) {
  if (rf_open_record() != 0) return RF_NO_COMM;
  uint32_t number = RF_NO_COMM;
  if (rf_lock_take(&adding) == 0) {
    number = add_locked(info);
    rf_lock_give(&adding);
  }
  if (number == RF_NO_COMM) rf_set_partial(RF_PARTIAL_COMMS);
  if (rf_me.upper) rf_upper_made_comm(number);
  return number;
}

uint32_t rf_comm_find(uint8_t library, uint64_t handle, uint32_t tag) {
  if (!rf_is_recording()) return RF_NO_COMM;
  uint8_t* hint = hint_of(handle, tag);
  const uint32_t hinted = __atomic_load_n(hint, __ATOMIC_RELAXED);
  if (is_key(hinted, library, handle, tag)) return rf_comms[hinted].number;
  const uint32_t used = RF_LOAD(&rf_head->comms_used);
  for (uint32_t i = used > RF_MAX_COMMS ? RF_MAX_COMMS : used; i-- > 0;)
    if (is_key(i, library, handle, tag)) {
      __atomic_store_n(hint, (uint8_t)i, __ATOMIC_RELAXED);
      return rf_comms[i].number;
    }
  return RF_NO_COMM;
}

const struct rf_comm* rf_comm_get(uint32_t comm) {
  const uint32_t at = RF_COMM_SLOT(comm);
  if (comm == RF_NO_COMM || !rf_is_recording() || at >= RF_LOAD(&rf_head->comms_used)) return NULL;
  return RF_LOAD(&rf_comms[at].number) == comm ? &rf_comms[at] : NULL;
}

void rf_comm_gone(uint32_t comm) {
  const uint32_t at = RF_COMM_SLOT(comm);
  if (!rf_comm_get(comm) || RF_LOAD(&rf_comms[at].state) != RF_COMM_LIVE) return;
  RF_STORE(&keys[at].library, 0u);
  freed_as[at] = __atomic_add_fetch(&freed, 1, __ATOMIC_RELAXED);
  RF_STORE(&rf_comms[at].state, (uint32_t)RF_COMM_DESTROYED);
}
