/* upper.c: calls that the program makes and that make the recorded calls of another library: c10d over NCCL.
 *
 * An upper call has no record. While a thread is in one, actions that name no library have acted at it, and
 * do not see the communication below. A call that shall fail is made, and the first communication below it
 * fails: so the library itself reports the failure, with its own exception and its own books. */
#include <errno.h>

#include "harness/agent/agent.h"

int rf_upper_armed(uint16_t op) { return rf_is_armed(op) && !rf_me.in_core && !rf_me.upper && !rf_inert(); }

/* The place of the first call below; afterwards, that of the last one. A communicator that is not yet made
 * begins at 1. */
static uint64_t place_below(const struct rf_upper_call* u, uint32_t edge) {
  if (u->call.comm == RF_NO_COMM) return u->group && rf_is_collective(u->call.op);
  const uint64_t next = rf_seq_of(&u->call);
  return edge == RF_EDGE_AFTER && next > 1 ? next - 1 : next;
}

static enum rf_verdict gate(struct rf_upper_call* u, uint32_t edge) {
  if (!rf_upper_armed(u->call.op) || !rf_attached()) return RF_DO_FORWARD;
  const uint32_t comm = u->group ? __atomic_load_n(&u->group->comm, __ATOMIC_RELAXED) : RF_NO_COMM;
  u->call.comm = rf_comm_get(comm) ? comm : RF_NO_COMM;
  u->call.lane = rf_me.lane;
  struct rf_point point = {
      .call = &u->call, .edge = edge, .step = rf_current_step(), .seq = place_below(u, edge), .upper = u};
  return rf_gate(&point);
}

enum rf_verdict rf_upper_begin(struct rf_upper_call* u) {
  u->call.verdict = RF_DO_FORWARD;
  u->is_outermost = !rf_me.upper && !rf_me.in_core;
  u->fails = 0;
  if (!u->is_outermost) return RF_DO_FORWARD;
  if (rf_is_armed(u->call.op)) {
    const int error = errno;
    u->call.verdict = gate(u, RF_EDGE_BEFORE);
    errno = error;
  }
  rf_me.upper = u;
  if (u->call.verdict == RF_DO_SKIP) return RF_DO_SKIP;
  u->fails = u->call.verdict == RF_DO_FAIL;
  return RF_DO_FORWARD;
}

void rf_upper_end(struct rf_upper_call* u) {
  if (!u->is_outermost) return;
  rf_me.upper = NULL;
  if (u->call.verdict == RF_DO_SKIP || !rf_is_armed(u->call.op)) return;
  const uint32_t verdict = u->call.verdict;
  const int error = errno;
  gate(u, RF_EDGE_AFTER);
  errno = error;
  u->call.verdict = verdict;
}

/* The communicator of a group is the one over all its members that is made, or has a collective, in an upper
 * call of the group. Messages may have communicators of their own. */
static void note_comm(uint16_t op, struct rf_comm* comm) {
  struct rf_group* group = rf_me.upper->group;
  if (!group || comm->size != group->size || rf_is_message(op)) return;
  __atomic_store_n(&group->comm, comm->number, __ATOMIC_RELAXED);
  if (comm->name == 0) RF_STORE(&comm->name, rf_comm_name(group->name));
}

void rf_upper_made_comm(uint32_t comm) {
  if (rf_comm_get(comm)) note_comm(rf_me.upper->call.op, &rf_comms[RF_COMM_SLOT(comm)]);
}

enum rf_verdict rf_below_upper(struct rf_call* c, struct rf_comm* comm) {
  struct rf_upper_call* u = rf_me.upper;
  if (comm && u->group && rf_is_collective(c->op) &&
      __atomic_load_n(&u->group->comm, __ATOMIC_RELAXED) != c->comm)
    note_comm(c->op, comm);
  if (c->op == u->call.op) { /* what only the upper library knows of its call */
    c->flags |= u->call.flags & RF_CALL_NEW_PASS;
    u->call.flags &= (uint16_t)~RF_CALL_NEW_PASS;
  }
  if (!u->fails || !rf_is_communication(c->op)) return RF_DO_FORWARD;
  u->fails = 0;
  c->fail_code = u->call.fail_code;
  return RF_DO_FAIL;
}
