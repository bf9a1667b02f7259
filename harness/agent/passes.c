/* passes.c: which pass of autograd a thread works for. The thread that began the pass waits in it, so the
 * Python frames that it had then are those from which all calls of the pass come. The table keeps them as a
 * place in the file of python_abi.h, and not as frames: a pass that fails ends while other threads are still
 * in it. */
#include <errno.h>

#include "harness/agent/agent.h"
#include "harness/agent/python.h"

#define PASSES 128u /* at the same time: a reentrant pass runs inside another one */
#define CLAIMED 1u  /* no address */

static struct { /* where is written while the task is CLAIMED */
  uintptr_t task;
  uint64_t where;
} passes[PASSES];
static uint32_t places;  /* one behind the last place that was ever used */
static uint32_t running; /* passes that are kept */
static uint32_t without_place;
static const void* (*task_of_thread)(void);

void rf_passes_reset(void) {
  for (uint32_t i = 0; i < PASSES; ++i) RF_STORE(&passes[i].task, (uintptr_t)0);
  RF_STORE(&running, 0u);
  RF_STORE(&without_place, 0u);
}

static int is_in(uintptr_t address, uintptr_t task) {
  return address >= task && address - task < RF_PASS_BYTES;
}

/* The thread's own pass cannot end and begin again at the same address meanwhile. So a place that has it
 * before and after has its frames. A pass frees its task before it leaves its place: another pass may have the
 * same address then, and of two places that match neither is sure. */
static uint64_t where_of(uintptr_t address) {
  if (RF_LOAD(&without_place)) return 0;
  const uint32_t most = RF_LOAD(&places);
  uint64_t found = 0;
  uint32_t matches = 0;
  for (uint32_t i = 0; i < most; ++i) {
    const uintptr_t task = RF_LOAD(&passes[i].task);
    if (task <= CLAIMED || !is_in(address, task)) continue;
    found = RF_LOAD(&passes[i].where);
    if (RF_LOAD(&passes[i].task) != task) return 0;
    ++matches;
  }
  return matches == 1 ? found : 0;
}

uint64_t rf_frames_behind(int* own) {
  const struct rf_pass* began = rf_me.pass;
  *own = 1;
  if (RF_LIKELY(!RF_LOAD(&running))) return 0;
  if (began && began->epoch != RF_LOAD(rf_mine)) return 0; /* the pass of a fork's parent */
  *own = !began || began->own;
  if (began && !began->behind) return 0;
  if (began && !began->task) return began->behind; /* it has not come to the tasks of its pass */
  const uintptr_t address = (uintptr_t)RF_LOAD(&task_of_thread)();
  if (!began) return address ? where_of(address) : 0;
  if (!address || is_in(address, (uintptr_t)began->task)) return began->behind;
  *own = 0; /* while the thread waits for its pass it does a part of another one */
  return where_of(address);
}

static void raise_places(uint32_t to) {
  uint32_t seen = RF_LOAD(&places);
  while (seen < to &&
         !__atomic_compare_exchange_n(&places, &seen, to, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}

static void keep(struct rf_pass* p) {
  for (uint32_t i = 0; i < PASSES; ++i) {
    uintptr_t nothing = 0;
    if (!__atomic_compare_exchange_n(&passes[i].task, &nothing, CLAIMED, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
      continue;
    raise_places(i + 1);
    RF_STORE(&passes[i].where, p->where);
    RF_STORE(&passes[i].task, (uintptr_t)p->task);
    p->place = i;
    return;
  }
  __atomic_fetch_add(&without_place, 1, __ATOMIC_ACQ_REL);
}

void rf_pass_begin(struct rf_pass* p) {
  p->epoch = 0;
  if (RF_LOAD(&rf_python.state) == RF_PYTHON_ABSENT || !rf_is_open()) return;
  const int error = errno;
  p->task = NULL;
  p->place = PASSES;
  p->where = rf_python_where();
  p->behind = rf_frames_behind(&p->own);
  p->outer = rf_me.pass;
  RF_STORE(&task_of_thread, p->of_thread);
  __atomic_fetch_add(&running, 1, __ATOMIC_ACQ_REL);
  p->epoch = RF_LOAD(rf_mine);
  rf_me.pass = p;
  errno = error;
}

void rf_pass_task(const void* task) {
  struct rf_pass* p = rf_me.pass;
  if (!p || p->task || p->epoch != RF_LOAD(rf_mine)) return;
  p->task = task;
  keep(p);
}

void rf_pass_end(struct rf_pass* p) {
  if (!p->epoch) return;
  rf_me.pass = p->outer;
  if (p->epoch != RF_LOAD(rf_mine)) return; /* a child that was forked inside it */
  if (p->place < PASSES)
    RF_STORE(&passes[p->place].task, (uintptr_t)0);
  else if (p->task)
    __atomic_fetch_sub(&without_place, 1, __ATOMIC_ACQ_REL);
  __atomic_fetch_sub(&running, 1, __ATOMIC_ACQ_REL);
}
