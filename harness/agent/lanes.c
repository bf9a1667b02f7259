/* lanes.c: assigns a lane of the record to the calling thread. The thread claims it at its first call and
 * releases it at its end; every other call costs two loads and a compare. */
#include <errno.h>
#include <pthread.h>

#include "harness/agent/agent.h"
#include "harness/agent/sys.h"

RF_TLS struct rf_thread rf_me;

static uint64_t calls_made[RF_MAX_LANES + 1]; /* on each lane; a call number is never reused */
static pthread_key_t at_thread_end;
static uint32_t key_is_made;

uint32_t rf_next_call(uint32_t lane) { return (uint32_t)rf_count_on_lane(lane, &calls_made[lane]) + 1; }

static void release_lane(void* unused) {
  (void)unused;
  if (!rf_is_recording() || rf_me.epoch != RF_LOAD(rf_mine) || rf_me.lane >= RF_MAX_LANES) return;
  const struct rf_call nothing = {.comm = RF_NO_COMM, .peer = RF_PEER_NONE, .recv_peer = RF_PEER_NONE};
  rf_write_state(&nothing, 0, RF_ENDED, rf_now(), 0);
  struct rf_lane* lane = &rf_lanes[rf_me.lane];
  rf_me.epoch = 0;
  RF_STORE(&lane->kind, (uint32_t)RF_LANE_FREE);
}

/* The key's destructor needs a value that is not null. pthread_setspecific may allocate for a key beyond the
 * first 32, once per thread. */
static void watch_thread_end(void) {
  uint32_t not_made = 0;
  if (__atomic_compare_exchange_n(&key_is_made, &not_made, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    RF_STORE(&key_is_made, pthread_key_create(&at_thread_end, release_lane) == 0 ? 2u : 3u);
  for (int tries = 0; RF_LOAD(&key_is_made) == 1 && tries < 1000; ++tries)
    rf_sys6(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
  if (RF_LOAD(&key_is_made) == 2) pthread_setspecific(at_thread_end, &rf_me);
}

static uint32_t claim_lane(void) {
  for (uint32_t i = 0; i < RF_MAX_LANES; ++i) {
    uint32_t vacant = RF_LANE_FREE;
    if (RF_LOAD(&rf_lanes[i].kind) == RF_LANE_FREE &&
        __atomic_compare_exchange_n(&rf_lanes[i].kind, &vacant, (uint32_t)RF_LANE_THREAD, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED))
      return i;
  }
  rf_set_partial(RF_PARTIAL_LANES);
  RF_STORE(&rf_lanes[RF_MAX_LANES].kind, (uint32_t)RF_LANE_THREAD);
  return RF_MAX_LANES; /* shared by all threads that came too late: lossy */
}

static void raise_lanes_used(uint32_t used) {
  uint32_t seen = RF_LOAD(&rf_head->lanes_used);
  while (seen < used && !__atomic_compare_exchange_n(&rf_head->lanes_used, &seen, used, 0, __ATOMIC_RELEASE,
                                                     __ATOMIC_RELAXED)) {
  }
}

static int attach_thread(void) {
  if (rf_open_record() != 0) return -1;
  if (rf_me.epoch == RF_LOAD(rf_mine)) return 0;
  const uint32_t i = claim_lane();
  struct rf_lane* lane = &rf_lanes[i];
  rf_me.tid = (uint32_t)rf_sys_tid();
  rf_me.lane = i;
  lane->owner = rf_me.tid;
  if (!rf_history[i]) rf_map_lane(i);
  __atomic_add_fetch(&lane->claims, 1, __ATOMIC_RELEASE);
  rf_me.epoch = RF_LOAD(rf_mine);
  raise_lanes_used(i + 1);
  const int error = errno;
  watch_thread_end();
  errno = error;
  const struct rf_call nothing = {.comm = RF_NO_COMM, .peer = RF_PEER_NONE, .recv_peer = RF_PEER_NONE};
  rf_write_state(&nothing, 0, RF_OUTSIDE, rf_now(), 0);
  return 0;
}

int rf_attach_thread(void) {
  if (attach_thread() != 0) return -1; /* repeated at each call: stays cheap */
  rf_clean_stack();
  return 0;
}
