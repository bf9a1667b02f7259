/* abandoned.c: detects that a jump left the open call of a thread: longjmp out of a signal handler or of a
 * callback. Nothing reports the jump itself; the thread's next call detects it. A stack grows down, so the
 * description of a call made inside the open one lies wholly below it. A description that lies higher is in
 * the place of a frame that is gone. This holds within one stack only: nothing is known about signal handlers
 * and coroutines that run on another stack. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "harness/agent/agent.h"
#include "harness/agent/sys.h"

static int runs_on_alternate_stack(void) {
  stack_t alternate;
  return rf_sys6(SYS_sigaltstack, 0, (long)&alternate, 0, 0, 0, 0) != 0 || (alternate.ss_flags & SS_ONSTACK);
}

static int both_in_stack_of_thread(uintptr_t one, uintptr_t other) {
  pthread_attr_t attributes;
  void* base = NULL;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  const int known = pthread_attr_getstack(&attributes, &base, &bytes) == 0;
  pthread_attr_destroy(&attributes);
  return known && one - (uintptr_t)base < bytes && other - (uintptr_t)base < bytes;
}

int rf_is_abandoned(const struct rf_call* next) {
  const uintptr_t open = rf_me.open, at = (uintptr_t)next;
  if (at + sizeof(*next) <= open || runs_on_alternate_stack()) return 0;
  const int error = errno;
  const int abandoned = both_in_stack_of_thread(open, at);
  errno = error;
  return abandoned;
}
