/* inner.c: points that may be inside a library's call. The lane then keeps the state of that call, and only
 * the history has the points. */
#include <errno.h>

#include "harness/agent/agent.h"
#include "harness/agent/sys.h"

int rf_is_own_process(void) { return !rf_is_recording() || rf_head->pid == rf_sys_pid(); }

int rf_inner_armed(uint16_t op) {
  return rf_is_armed(op) && !rf_inert() && !rf_me.in_core && rf_is_own_process();
}

static void write_inner_record(const struct rf_call* c, uint8_t phase, int32_t result) {
  uint64_t commit;
  struct rf_record* r = rf_claim_record(rf_me.lane, &commit);
  if (!r) return;
  r->time_ns = rf_now();
  r->seq = c->seq;
  /* for an opened file, `where` is its birth */
  const int is_open =
      phase == RF_PHASE_EXIT && result == 0 && (c->op == RF_OP_FILE_OPEN || c->op == RF_OP_SHM_CREATE);
  r->where = phase == RF_PHASE_ENTER || is_open ? (uint64_t)(uintptr_t)c->where : 0;
  r->count = c->count;
  r->call = c->number;
  r->comm = RF_NO_COMM;
  r->peer = RF_PEER_NONE;
  r->tag_or_result = result;
  r->op = c->op;
  r->phase = phase;
  r->library = c->library;
  r->dtype = 0;
  r->reduce_op = 0;
  r->flags = is_open ? c->flags : 0;
  rf_commit_record(r, commit);
}

/* A process that is neither a rank nor a forked child of one records nothing, but a point can still act. */
static int records(void) { return rf_is_recording() && rf_attached(); }

enum rf_verdict rf_inner_begin(struct rf_call* c) {
  const int error = errno;
  const int recording = records();
  c->comm = RF_NO_COMM;
  c->peer = c->recv_peer = RF_PEER_NONE;
  c->lane = recording ? rf_me.lane : RF_MAX_LANES;
  c->verdict = RF_DO_FORWARD;
  c->outermost = 0;
  if (rf_is_armed(c->op)) {
    struct rf_point point = {
        .call = c, .edge = RF_EDGE_BEFORE, .step = rf_current_step(), .inner = rf_me.depth > 0};
    c->verdict = rf_gate(&point);
  }
  if (recording) {
    c->outermost = 1;
    c->seq = rf_name(c->path);
    c->number = rf_next_call(rf_me.lane);
    write_inner_record(c, RF_PHASE_ENTER, 0);
  }
  errno = error;
  return (enum rf_verdict)c->verdict;
}

void rf_inner_end(struct rf_call* c, int result) {
  const int error = errno;
  if (c->outermost && rf_is_recording() && result == 0) c->seq = rf_name(c->path); /* mkstemp made the name */
  if (c->outermost && rf_is_recording()) write_inner_record(c, RF_PHASE_EXIT, result);
  if (rf_is_armed(c->op)) {
    struct rf_point point = {
        .call = c, .edge = RF_EDGE_AFTER, .step = rf_current_step(), .seq = c->seq, .inner = rf_me.depth > 0};
    rf_gate(&point);
  }
  errno = error;
}
