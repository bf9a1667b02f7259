/* park.c: a thread asks the harness through a slot of the control page and waits for a limited time. */
#include <string.h>

#include "harness/agent/agent.h"
#include "harness/agent/sys.h"

#define DEFAULT_PARK_NS 2000000000u
#define LOOK_EVERY_NS 50000000u /* checks harness_gone, in case its wake is missed */

static void ring_doorbell(void) {
  __atomic_add_fetch(&rf_control->doorbell, 1, __ATOMIC_ACQ_REL);
  rf_sys_wake(&rf_control->doorbell);
}

static struct rf_gate_slot* claim_slot(void) {
  for (uint32_t i = 0; i < RF_MAX_GATE_SLOTS; ++i) {
    uint32_t vacant = RF_GATE_FREE;
    struct rf_gate_slot* slot = &rf_control->slots[i];
    if (RF_LOAD(&slot->state) == RF_GATE_FREE &&
        __atomic_compare_exchange_n(&slot->state, &vacant, (uint32_t)RF_GATE_CLAIMED, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED))
      return slot;
  }
  return NULL;
}

static void fill_slot(struct rf_gate_slot* s, const struct rf_point* point, const struct rf_armed* armed,
                      uint32_t nth) {
  const struct rf_call* c = point->call;
  const struct rf_comm* comm = rf_comm_get(c->comm);
  s->answer = RF_ANSWER_NONE;
  s->action = armed->id;
  s->effect = RF_EFFECT_NONE;
  s->pid = rf_self.pid;
  s->image = rf_self.image;
  s->start_time = rf_self.start_time;
  s->pid_ns = rf_self.pid_ns;
  s->rank = rf_rank();
  s->attempt = rf_self.attempt;
  s->lane = c->lane;
  s->tid = rf_sys_tid();
  s->asked_ns = rf_now();
  s->done_ns = 0;
  s->comm_id = comm ? comm->id : 0;
  s->seq = point->seq;
  s->count = c->count;
  s->step = point->step;
  s->peer = c->peer;
  s->tag = c->tag;
  s->op = c->op;
  s->library = c->library;
  s->edge = (uint8_t)point->edge;
  s->nth = nth;
  s->arg = armed->arg[0];
  memset(s->path, 0, sizeof(s->path));
  memset(s->why, 0, sizeof(s->why));
  memset(s->group, 0, sizeof(s->group));
  s->is_upper = point->upper != NULL;
  const struct rf_group* group = point->upper ? point->upper->group : NULL;
  if (group && group->name) strncpy(s->group, group->name, sizeof(s->group) - 1);
  if (c->path) strncpy(s->path, c->path, sizeof(s->path) - 1);
}

/* Returns 1 if the question was withdrawn before the harness answered. */
static int abandon(struct rf_gate_slot* slot) {
  uint32_t asked = RF_GATE_ASKED;
  return __atomic_compare_exchange_n(&slot->state, &asked, (uint32_t)RF_GATE_ABANDONED, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE);
}

enum rf_answer rf_ask(const struct rf_point* point, const struct rf_armed* armed, uint32_t nth,
                      struct rf_park* park) {
  park->parked_ns = 0;
  park->slot = RF_LOAD(&rf_control->harness_gone) ? NULL : claim_slot();
  if (!park->slot) return RF_ANSWER_NONE;
  if (rf_self.pid != rf_sys_pid()) rf_read_identity(); /* a forked child at a libc point */
  struct rf_gate_slot* slot = park->slot;
  fill_slot(slot, point, armed, nth);
  park->asked_ns = slot->asked_ns;
  const uint64_t limit = rf_control->park_limit_ns ? rf_control->park_limit_ns : DEFAULT_PARK_NS;
  const uint64_t deadline = park->asked_ns + limit;
  RF_STORE(&slot->state, (uint32_t)RF_GATE_ASKED);
  ring_doorbell();
  uint64_t now = park->asked_ns;
  while (RF_LOAD(&slot->state) == RF_GATE_ASKED) {
    now = rf_now();
    if ((now >= deadline || RF_LOAD(&rf_control->harness_gone)) && abandon(slot)) {
      park->parked_ns = now - park->asked_ns;
      ring_doorbell();
      return RF_ANSWER_NONE;
    }
    const uint64_t left = deadline > now ? deadline - now : 1;
    rf_sys_wait(&slot->state, RF_GATE_ASKED, left < LOOK_EVERY_NS ? left : LOOK_EVERY_NS);
  }
  park->parked_ns = rf_now() - park->asked_ns;
  return (enum rf_answer)RF_LOAD(&slot->answer);
}

void rf_report(struct rf_park* park, uint32_t effect, const char* why) {
  if (!park->slot) return;
  park->slot->effect = effect;
  if (why) strncpy(park->slot->why, why, sizeof(park->slot->why) - 1);
  park->slot->done_ns = rf_now();
  RF_STORE(&park->slot->state, (uint32_t)RF_GATE_DONE);
  ring_doorbell();
}
