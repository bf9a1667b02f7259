/* groups.c: ncclGroupStart and ncclGroupEnd. Both are records of op group (tag 0: start, 1: end), so the
 * operations between them on the lane form the group. Only the outermost end puts work on streams.
 *
 * This file keeps the depth of each thread, because a decoder has no thread-locals. */
#include <pthread.h>

#include "decoder.h"

enum { kThreads = 256 };

static struct {
  uint64_t thread; /* 0: free; claimed by compare-and-swap and released at depth 0 */
  int depth;       /* used only by its own thread */
} depths[kThreads];

static int find(uint64_t me, int claim) {
  for (int i = 0; i < kThreads; ++i)
    if (RF_LOAD(&depths[i].thread) == me) return i;
  for (int i = 0; claim && i < kThreads; ++i) {
    uint64_t vacant = 0;
    if (__atomic_compare_exchange_n(&depths[i].thread, &vacant, me, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      return i;
  }
  return -1;
}

int rf_group_depth(void) {
  const int at = find((uint64_t)pthread_self(), 0);
  return at < 0 ? 0 : depths[at].depth;
}

static void enter(void) {
  const int at = find((uint64_t)pthread_self(), 1);
  if (at >= 0) ++depths[at].depth;
  if (at < 0) rf_core->opaque(RF_OPAQUE_COMMUNICATION); /* more threads in groups than the table holds */
}

/* Returns true if the outermost group of this thread ended. */
static int leave(void) {
  const int at = find((uint64_t)pthread_self(), 0);
  if (at < 0 || --depths[at].depth > 0) return 0;
  depths[at].depth = 0;
  RF_STORE(&depths[at].thread, (uint64_t)0);
  return 1;
}

static struct rf_call group(int tag, const void* where) {
  struct rf_call call = rf_call_on(RF_OP_GROUP, NULL, where);
  call.tag = tag;
  return call;
}

ncclResult_t wrap_ncclGroupStart(void) {
  struct rf_call call = group(0, WHERE);
  const enum rf_verdict verdict = rf_core->begin(&call);
  const ncclResult_t rc =
      verdict == RF_DO_FORWARD ? ((ncclResult_t(*)(void))next_ncclGroupStart)() : rf_not_made(&call, verdict);
  if (verdict == RF_DO_FORWARD && rc == ncclSuccess && call.outermost) enter();
  rf_core->end(&call, (int)rc);
  return rc;
}

ncclResult_t wrap_ncclGroupEnd(void) {
  struct rf_call call = group(1, WHERE);
  const enum rf_verdict verdict = rf_core->begin(&call);
  const ncclResult_t rc =
      verdict == RF_DO_FORWARD ? ((ncclResult_t(*)(void))next_ncclGroupEnd)() : rf_not_made(&call, verdict);
  rf_core->end(&call, rf_accepted(rc) ? 0 : (int)rc);
  if (verdict != RF_DO_FORWARD || !call.outermost || !leave()) return rc;
  rf_comms_resolve();
  rf_stream_group_ended(rc == ncclSuccess      ? RF_GROUP_LAUNCHED
                        : rc == ncclInProgress ? RF_GROUP_ACCEPTED
                                               : RF_GROUP_REFUSED,
                        rc);
  return rc;
}
