/* death_notice.c: lets the harness see that a signal kills this process before the kernel has removed it.
 *
 * A process becomes a zombie, and its pidfd readable, only after the kernel has freed its memory and closed
 * its descriptors. This takes seconds with hundreds of gigabytes, and tens of milliseconds with a socket to
 * each of 63 peers that wake up meanwhile. do_exit() of Linux (kernel/exit.c) calls exit_signals, exit_mm,
 * exit_files and exit_notify in this order, and exit_mm releases robust futexes before it drops the memory.
 *
 * The end of a thread and an exec also release the mutex: the word is a reason to look at the process, not a
 * proof. */
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "harness/agent/agent.h"
#include "harness/agent/sys.h"

_Static_assert(sizeof(pthread_mutex_t) <= sizeof(((struct rf_header*)0)->life), "room for the mutex");
_Static_assert(_Alignof(pthread_mutex_t) <= 8 && offsetof(struct rf_header, life) % 8 == 0, "its alignment");

void rf_arm_death_notice(struct rf_header* h) {
  pthread_mutex_t* mutex = (pthread_mutex_t*)(void*)h->life;
  pthread_mutexattr_t attributes;
  if (pthread_mutexattr_init(&attributes) != 0) return;
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  const int locked = pthread_mutex_init(mutex, &attributes) == 0 && pthread_mutex_lock(mutex) == 0;
  pthread_mutexattr_destroy(&attributes);
  uint32_t* word = (uint32_t*)(void*)h->life;
  if (!locked || (RF_LOAD(word) & FUTEX_TID_MASK) != (uint32_t)rf_sys_tid()) {
    memset(h->life, 0, sizeof(h->life)); /* another libc: its mutex has a different layout */
    return;
  }
  __atomic_fetch_or(word, FUTEX_WAITERS, __ATOMIC_RELEASE); /* otherwise the kernel wakes no waiter */
}
