/* comms.c: the table of communicators. Entries are never reused: a late record may still name one. */
#include <string.h>

#include "harness/agent/agent.h"

static struct { /* what comm_find compares, closer together than the entries of the record */
  uint64_t handle;
  uint32_t tag;
  uint32_t library; /* + 1, stored last; 0 is not there */
} keys[RF_MAX_COMMS];
static uint32_t made_of_library[RF_MAX_LIBRARIES];

static int is_key(uint32_t i, uint8_t library, uint64_t handle, uint32_t tag) {
  return RF_LOAD(&keys[i].library) == (uint32_t)library + 1 && keys[i].handle == handle && keys[i].tag == tag;
}

/* Where a handle was found last, so that a call costs the same whatever the number of communicators. A hint
 * may be wrong at any time: the key decides. */
static uint8_t* hint_of(uint64_t handle, uint32_t tag) {
  static uint8_t hints[RF_MAX_COMMS];
  _Static_assert(RF_MAX_COMMS <= 256, "an index fits a hint");
  return &hints[((handle ^ tag) * 0x9e3779b97f4a7c15ull >> 56) % RF_MAX_COMMS];
}

void rf_comms_reset(void) {
  memset(keys, 0, sizeof(keys));
  memset(made_of_library, 0, sizeof(made_of_library));
}

static uint32_t claim_entry(void) {
  uint32_t at = RF_LOAD(&rf_head->comms_used);
  do {
    if (at >= RF_MAX_COMMS) return RF_NO_COMM;
  } while (
      !__atomic_compare_exchange_n(&rf_head->comms_used, &at, at + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  return at;
}

static uint32_t keep_members(const int32_t* ranks, uint32_t size) {
  if (!ranks || size == 0) return RF_NO_MEMBERS;
  uint32_t at = RF_LOAD(&rf_head->members_used);
  do {
    if (size > RF_MAX_MEMBERS - at) {
      rf_set_partial(RF_PARTIAL_MEMBERS);
      return RF_NO_MEMBERS;
    }
  } while (!__atomic_compare_exchange_n(&rf_head->members_used, &at, at + size, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE));
  memcpy(rf_members + at, ranks, size * sizeof(*ranks));
  return at;
}

/* For plain Gloo a later tag of one context belongs to the communicator its first tag made; a persistent
 * collective to the one it was prepared on. */
static const struct rf_comm* owner_of_stream(const struct rf_comm_info* info) {
  if (!info->parent || (info->library != RF_LIB_GLOO && !(info->flags & RF_COMM_STREAM))) return NULL;
  const uint32_t used = RF_LOAD(&rf_head->comms_used);
  for (uint32_t i = 0; i < used && i < RF_MAX_COMMS; ++i)
    if (rf_comms[i].library == info->library && rf_comms[i].id == info->parent &&
        RF_LOAD(&rf_comms[i].state) == RF_COMM_LIVE)
      return &rf_comms[i];
  return NULL;
}

static int has_live_world(uint8_t library) {
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
    if (c->members == RF_NO_MEMBERS) c->members = owner->members;
    if (c->name == 0) c->name = owner->name;
    return;
  }
  c->ordinal = __atomic_fetch_add(&made_of_library[info->library % RF_MAX_LIBRARIES], 1, __ATOMIC_RELAXED);
  if (info->size && info->size == over_all && !(info->flags & RF_COMM_INTER) &&
      !has_live_world(info->library))
    c->flags |= RF_COMM_WORLD;
}

uint32_t rf_comm_add(const struct rf_comm_info* info) {
  if (rf_open_record() != 0) return RF_NO_COMM;
  const uint32_t at = claim_entry();
  if (at == RF_NO_COMM) {
    rf_set_partial(RF_PARTIAL_COMMS);
    return RF_NO_COMM;
  }
  struct rf_comm* c = &rf_comms[at];
  RF_STORE(&c->state, (uint32_t)RF_COMM_FILLING);
  c->id = info->id;
  c->parent = info->parent;
  c->parent_seq = info->parent_seq;
  c->members_hash = info->members_hash;
  c->handle = info->handle;
  c->created_ns = rf_now();
  c->size = info->size;
  c->rank = info->rank;
  c->members = keep_members(info->world_ranks, info->size);
  c->name = rf_name(info->name);
  c->tag = info->tag;
  c->library = info->library;
  c->identity = info->identity;
  c->timeout_ns = info->timeout_ns;
  place(c, info);
  RF_STORE(&c->state, (uint32_t)RF_COMM_LIVE);
  keys[at].handle = info->handle;
  keys[at].tag = info->tag;
  RF_STORE(&keys[at].library, (uint32_t)info->library + 1);
  __atomic_store_n(hint_of(info->handle, info->tag), (uint8_t)at,
                   __ATOMIC_RELAXED); /* the newest of a handle */
  return at;
}

uint32_t rf_comm_find(uint8_t library, uint64_t handle, uint32_t tag) {
  if (!rf_is_recording()) return RF_NO_COMM;
  uint8_t* hint = hint_of(handle, tag);
  const uint32_t hinted = __atomic_load_n(hint, __ATOMIC_RELAXED);
  if (is_key(hinted, library, handle, tag)) return hinted;
  const uint32_t used = RF_LOAD(&rf_head->comms_used);
  for (uint32_t i = used > RF_MAX_COMMS ? RF_MAX_COMMS : used; i-- > 0;)
    if (is_key(i, library, handle, tag)) {
      __atomic_store_n(hint, (uint8_t)i, __ATOMIC_RELAXED);
      return i;
    }
  return RF_NO_COMM;
}

void rf_comm_gone(uint32_t comm) {
  if (comm >= RF_MAX_COMMS || !rf_is_recording() || comm >= RF_LOAD(&rf_head->comms_used)) return;
  RF_STORE(&keys[comm].library, 0u);
  RF_STORE(&rf_comms[comm].state, (uint32_t)RF_COMM_DESTROYED);
}

const struct rf_comm* rf_comm_get(uint32_t comm) {
  if (!rf_is_recording() || comm >= RF_MAX_COMMS || comm >= RF_LOAD(&rf_head->comms_used)) return NULL;
  return &rf_comms[comm];
}
