/* lock.h: a lock for rare steps: opening, loading. It survives a fork: the child takes over a lock that
 * another thread of its parent held. A thread that already holds it gets a refusal and does not wait
 * forever. */
#ifndef RANKFAULT_AGENT_LOCK_H
#define RANKFAULT_AGENT_LOCK_H

#include "harness/agent/sys.h"

struct rf_lock {
  uint64_t holder; /* pid << 32 | tid; 0 free */
};

#define RF_LOCK_TRIES 4000 /* two seconds */
#define RF_LOCK_BRIEFLY 10 /* five milliseconds */

/* Returns 0 if taken. Refuses if this thread holds it, or if another thread kept it for so many half
 * milliseconds. */
static inline int rf_lock_take_within(struct rf_lock* lock, int most) {
  const uint64_t pid = (uint64_t)(uint32_t)rf_sys_pid();
  const uint64_t me = pid << 32 | (uint32_t)rf_sys_tid();
  for (int tries = 0; tries < most; ++tries) {
    uint64_t seen = 0;
    if (__atomic_compare_exchange_n(&lock->holder, &seen, me, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return 0;
    if (seen == me) return -1;
    if (seen >> 32 != pid &&
        __atomic_compare_exchange_n(&lock->holder, &seen, me, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return 0;
    struct timespec half_a_millisecond = {0, 500000};
    rf_sys6(SYS_nanosleep, (long)&half_a_millisecond, 0, 0, 0, 0, 0);
  }
  return -1;
}

/* Another thread that keeps it longer may be waiting for the loader, which we may hold. */
static inline int rf_lock_take(struct rf_lock* lock) { return rf_lock_take_within(lock, RF_LOCK_TRIES); }

static inline void rf_lock_give(struct rf_lock* lock) {
  __atomic_store_n(&lock->holder, 0, __ATOMIC_RELEASE);
}

#endif /* RANKFAULT_AGENT_LOCK_H */
