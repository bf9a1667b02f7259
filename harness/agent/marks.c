/* marks.c: the marks of a workload (rankfault/mark.h): steps, commits, values, errors, phases, batches. A
 * mark is a point like a call, but without duration, and may be inside another call. */
#include <errno.h>

#include "harness/agent/agent.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void rankfault_step_begin_v1(int64_t step);
EXPORTED void rankfault_step_commit_v1(int64_t step);
EXPORTED void rankfault_mark_v1(const char* name, int64_t number);
EXPORTED void rankfault_value_v1(const char* name, int64_t step, uint64_t value);
EXPORTED void rankfault_error_v1(const char* kind, int64_t step);
EXPORTED void rankfault_phase_v1(const char* name);
EXPORTED int rankfault_batch_v1(int64_t number);

static void write_event(const struct rf_call* c, uint32_t name, uint64_t value) {
  uint64_t commit;
  struct rf_record* r = rf_claim_record(rf_me.lane, &commit);
  if (!r) return;
  r->time_ns = rf_now();
  r->seq = 0;
  r->where = value;
  r->count = c->count;
  r->call = rf_next_call(rf_me.lane);
  r->comm = RF_NO_COMM;
  r->peer = RF_PEER_NONE;
  r->tag_or_result = (int32_t)name;
  r->op = c->op;
  r->phase = RF_PHASE_EVENT;
  r->library = RF_LIB_MARK;
  r->dtype = 0;
  r->reduce_op = 0;
  r->flags = 0;
  rf_commit_record(r, commit);
}

/* Stores a mark's effect in the header; after the gate, so that a skipped mark has none. */
static void take_effect(uint16_t op, int64_t number, uint64_t name_hash) {
  if (op == RF_OP_STEP_BEGIN) RF_STORE(&rf_head->last_step_begun, (uint64_t)number + 1);
  if (op == RF_OP_STEP_COMMIT) RF_STORE(&rf_head->last_step_committed, (uint64_t)number + 1);
  if (op == RF_OP_PHASE) RF_STORE(&rf_phase, name_hash);
}

static int has_own_step(uint16_t op) {
  return op == RF_OP_STEP_BEGIN || op == RF_OP_STEP_COMMIT || op == RF_OP_VALUE || op == RF_OP_ERROR_MARK;
}

/* 1: made; 0: skipped. */
static int make_mark(uint16_t op, const char* text, int64_t number, uint64_t value) {
  if (rf_inert()) return 1;
  const int error = errno;
  int made = 1;
  if (rf_attached()) {
    struct rf_call c = {.op = op,
                        .library = RF_LIB_MARK,
                        .comm = RF_NO_COMM,
                        .peer = RF_PEER_NONE,
                        .recv_peer = RF_PEER_NONE,
                        .count = (uint64_t)number,
                        .lane = rf_me.lane,
                        .where = __builtin_return_address(0)};
    const int armed = rf_is_armed(op);
    const uint64_t hash = text && (armed || op == RF_OP_PHASE) ? rf_hash_text(text) : 0;
    struct rf_point point = {.call = &c,
                             .edge = RF_EDGE_BEFORE,
                             .mark = hash,
                             .value = op == RF_OP_VALUE ? &value : NULL,
                             .step = has_own_step(op) ? number : rf_current_step()};
    made = !armed || rf_gate(&point) != RF_DO_SKIP;
    if (made) {
      write_event(&c, rf_name(text), value);
      take_effect(op, number, hash);
      point.edge = RF_EDGE_AFTER;
      if (armed) rf_gate(&point);
    }
  }
  errno = error;
  return made;
}

void rankfault_step_begin_v1(int64_t step) { make_mark(RF_OP_STEP_BEGIN, NULL, step, 0); }
void rankfault_step_commit_v1(int64_t step) { make_mark(RF_OP_STEP_COMMIT, NULL, step, 0); }
void rankfault_mark_v1(const char* name, int64_t number) { make_mark(RF_OP_MARK, name, number, 0); }
void rankfault_value_v1(const char* name, int64_t step, uint64_t value) {
  make_mark(RF_OP_VALUE, name, step, value);
}
void rankfault_error_v1(const char* kind, int64_t step) { make_mark(RF_OP_ERROR_MARK, kind, step, 0); }
void rankfault_phase_v1(const char* name) { make_mark(RF_OP_PHASE, name, 0, 0); }

/* Once the data has ended it stays ended: a loader that asks again gets the same answer. */
int rankfault_batch_v1(int64_t number) {
  static int32_t ended_in; /* pid: a forked loader has its own data */
  if (ended_in && ended_in == rf_self.pid && rf_is_recording()) return 0;
  if (make_mark(RF_OP_BATCH, NULL, number, 0)) return 1;
  ended_in = rf_self.pid;
  return 0;
}
