/* clock.c: CLOCK_MONOTONIC in nanoseconds. clock_gettime() is a third of the cost of a recorded call. So
 * if the kernel itself uses the processor's counter as its clock, a thread reads that counter and compares
 * it with the kernel's time each millisecond. In between the two differ by the kernel's adjustments, at
 * most 500 parts in a million, and by the time between the two readings of a pair: together less than a
 * microsecond. */
#include <time.h>

#include "harness/agent/agent.h"
#include "harness/agent/sys.h"

static uint64_t ask_kernel(void) {
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#if defined(__x86_64__)
#include <x86intrin.h>

enum { UNKNOWN, YES, NO };
static uint32_t counter_is_time;

/* The kernel trusts the counter only if it is the same on all processors, whatever their frequency. */
static int kernel_uses_counter(void) {
  char name[8] = "";
  const int fd = rf_sys_open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY, 0);
  if (fd < 0) return 0;
  const long n = rf_sys_read(fd, name, sizeof(name) - 1);
  rf_sys_close(fd);
  return n == 4 && name[0] == 't' && name[1] == 's' && name[2] == 'c';
}

void rf_clock_start(void) {
  RF_STORE(&counter_is_time, kernel_uses_counter() ? (uint32_t)YES : (uint32_t)NO);
}

#define NS(ms) ((uint64_t)(ms)*1000000u)
#define APART 4000u /* ticks between two readings of the counter: beyond it the thread was interrupted */

struct thread_clock {
  uint64_t ticks, ns; /* one instant in both units */
  uint64_t span;      /* ticks until the next comparison; 0: the rate is unknown */
  uint64_t rate;      /* nanoseconds per tick, times 2^32 */
  uint64_t last;      /* time never goes back on a thread */
};
static RF_TLS struct thread_clock mine;

static uint64_t forward(uint64_t ns) {
  if (ns > mine.last) mine.last = ns;
  return mine.last;
}

static __attribute__((noinline, cold)) uint64_t compare(void) {
  const uint64_t before = __rdtsc(), ns = ask_kernel(), ticks = __rdtsc();
  if (ticks - before > APART) return forward(ns);
  const uint64_t passed_ns = ns - mine.ns, passed = ticks - mine.ticks;
  if (mine.ns == 0 || passed_ns > NS(4000)) { /* too long ago to divide in 64 bits: start again */
    mine.span = 0;
  } else if (passed_ns < NS(1)) {
    return forward(ns); /* the pair is too close to give a better rate */
  } else {
    mine.rate = (passed_ns << 32) / passed;
    mine.span = passed * NS(1) / passed_ns;
  }
  mine.ticks = ticks;
  mine.ns = ns;
  return forward(ns);
}

uint64_t rf_now(void) {
  if (RF_UNLIKELY(__atomic_load_n(&counter_is_time, __ATOMIC_RELAXED) != YES)) return ask_kernel();
  const uint64_t passed = __rdtsc() - mine.ticks;
  if (RF_UNLIKELY(passed >= mine.span)) return compare();
  return forward(mine.ns + (passed * mine.rate >> 32));
}
#else
void rf_clock_start(void) {}
uint64_t rf_now(void) { return ask_kernel(); }
#endif
