/* entries.h: the table of pending operations. streams.c fills it and extents.c reads it.
 *
 * Several threads write and read it without a lock. The state word of an entry contains its use count, so a
 * thread that removes an entry removes the one that it has read. */
#ifndef RANKFAULT_NCCL_ENTRIES_H
#define RANKFAULT_NCCL_ENTRIES_H

#include "streams.h"

enum { RF_ENTRIES = 4096 };
enum rf_entry_state { kFree, kFilling, kInGroup, kAccepted, kOnStream, kStates = 8 };

struct rf_entry {
  uint32_t state; /* of the enumeration, + kStates * use count */
  uint32_t comm;
  uint64_t stamp; /* position at which it was put on the stream */
  uint64_t stream, thread, origin, seq;
  int32_t device;        /* of its communicator; -1 unknown */
  int32_t before_legacy; /* the legacy default stream waits for its stream */
};
extern struct rf_entry rf_entries[RF_ENTRIES];
extern uint32_t rf_entries_waiting; /* how many are kInGroup or kAccepted, at least */

/* All entries in use have a number in [begin, end); entry i is rf_entries[i % RF_ENTRIES]. Older entries come
 * first. Takes time proportional to end - begin, which is short when waits complete operations in order. */
struct rf_span {
  uint32_t begin, end;
};
struct rf_span rf_entries_span(void);

void rf_orders_forget(uint64_t stream); /* extents.c: the order of the stream */

static inline enum rf_entry_state state_of(uint32_t word) { return (enum rf_entry_state)(word % kStates); }
static inline uint32_t with_state(uint32_t word, enum rf_entry_state state) {
  return word - word % kStates + state;
}
static inline int move(struct rf_entry* e, uint32_t word, uint32_t to) {
  return __atomic_compare_exchange_n(&e->state, &word, to, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}
static inline int is_waiting(uint32_t word) {
  return state_of(word) == kInGroup || state_of(word) == kAccepted;
}
int take_away(struct rf_entry* e, uint32_t word); /* returns true for exactly one of the threads that try */

#endif /* RANKFAULT_NCCL_ENTRIES_H */
