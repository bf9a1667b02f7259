/* record.c: the entry and the exit of a call: the hot path. No allocation, lock, log or system call except
 * the clock (clock.c) from here to the end of the file, unless something is armed on that op. */
#include "harness/agent/agent.h"
#include "harness/agent/named_calls.h"
#include "harness/agent/python.h"

/* The functions of the hot path are inlined into one function: calls between them cost 6 of 58 ns. */
#define INLINE static inline __attribute__((always_inline))

/* Whether the op takes a place in its communicator's order. */
int rf_counts_on_comm(uint16_t op) {
  return rf_is_collective(op) || op == RF_OP_FINALIZE || op == RF_OP_COMM_CREATE || op == RF_OP_COMM_FREE ||
         op == RF_OP_COMM_SHRINK || op == RF_OP_COMM_AGREE || op == RF_OP_PERSISTENT_INIT;
}

INLINE struct rf_record* claim_record(uint32_t lane, uint64_t* commit) {
  const uint64_t index = rf_count_on_lane(lane, &rf_lanes[lane].head);
  struct rf_record* history = rf_history[lane];
  if (RF_UNLIKELY(!history)) {
    __atomic_fetch_add(&rf_lanes[lane].dropped, 1, __ATOMIC_RELAXED);
    return NULL;
  }
  struct rf_record* r = &history[index & (RF_LANE_RECORDS - 1)];
  __atomic_store_n(&r->commit, 0, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE); /* torn before any field changes */
  *commit = index + 1;
  return r;
}

struct rf_record* rf_claim_record(uint32_t lane, uint64_t* commit) {
  return claim_record(lane, commit);
}

INLINE void write_record(const struct rf_call* c, uint8_t phase, uint64_t seq, uint64_t where,
                         int32_t tag_or_result, uint64_t now) {
  uint64_t commit;
  struct rf_record* r = claim_record(rf_me.lane, &commit);
  if (RF_UNLIKELY(!r)) return;
  r->time_ns = now;
  r->seq = seq;
  r->where = where;
  r->count = c->count;
  r->call = c->number;
  r->comm = c->comm;
  r->peer = c->peer;
  r->tag_or_result = tag_or_result;
  r->op = c->op;
  r->phase = phase;
  r->library = c->library;
  r->dtype = c->dtype;
  r->reduce_op = c->reduce_op;
  r->flags = c->flags;
  rf_commit_record(r, commit);
}

INLINE void write_state(const struct rf_call* c, uint64_t seq, uint32_t where, uint64_t now, int32_t result) {
  struct rf_lane* lane = &rf_lanes[rf_me.lane];
  const uint32_t whole = __atomic_load_n(&lane->selector, __ATOMIC_RELAXED) & 1;
  const struct rf_state* before = &lane->slot[whole];
  struct rf_state* s = &lane->slot[1 - whole];
  __atomic_thread_fence(
      __ATOMIC_RELEASE); /* readers see the previous switch before any change of the idle slot */
  s->since_ns = now;
  s->seq = seq;
  s->return_address = (uint64_t)(uintptr_t)c->where;
  s->count = c->count;
  s->needs_mask = c->needs_mask;
  s->deadline_ns = c->timeout_ns ? now + c->timeout_ns : 0;
  s->pending[0] = c->pending[0];
  s->pending[1] = c->pending[1];
  s->pending_count = c->pending_count;
  s->call = c->number;
  s->comm = c->comm;
  s->peer = c->peer;
  s->tag = c->tag;
  s->version = before->version + 1;
  s->op = c->op;
  s->where = (uint8_t)where;
  s->library = c->library;
  s->dtype = c->dtype;
  s->reduce_op = c->reduce_op;
  s->flags = c->flags;
  s->last_result = result;
  s->recv_peer = c->recv_peer;
  RF_STORE(&lane->selector, 1 - whole);
}

void rf_write_state(const struct rf_call* c, uint64_t seq, uint32_t where, uint64_t now, int32_t result) {
  write_state(c, seq, where, now, result);
}

/* Notes that the thread has left the call of the lane's state. */
static void write_leave(const struct rf_call* c, uint64_t now, int32_t result) {
  struct rf_lane* lane = &rf_lanes[rf_me.lane];
  RF_STORE(&lane->left_ns, now); /* a reader that sees it also sees the newest selector */
  RF_STORE(&lane->left_result, result);
  RF_STORE(&lane->left_call, c->number);
}

/* For a call that begins: a communicator that is not in this record (that of a fork's parent) becomes
 * none. */
static struct rf_comm* find_comm(struct rf_call* c) {
  const uint32_t at = RF_COMM_SLOT(c->comm);
  if (RF_LIKELY(at < __atomic_load_n(&rf_head->comms_used, __ATOMIC_RELAXED) &&
                __atomic_load_n(&rf_comms[at].number, __ATOMIC_RELAXED) == c->comm))
    return &rf_comms[at];
  c->comm = RF_NO_COMM;
  return NULL;
}

/* Also returns null if the entry serves another communicator by now, for work that was pending at the
 * free. */
static struct rf_comm* comm_of(const struct rf_call* c) {
  if (c->comm == RF_NO_COMM) return NULL;
  struct rf_comm* comm = &rf_comms[RF_COMM_SLOT(c->comm)];
  return __atomic_load_n(&comm->number, __ATOMIC_RELAXED) == c->comm ? comm : NULL;
}

static void raise_to(uint64_t* word, uint64_t value) {
  uint64_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (seen < value &&
         !__atomic_compare_exchange_n(word, &seen, value, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}

static __attribute__((noinline, cold)) void note_failure(const struct rf_call* c, struct rf_comm* comm,
                                                         int result) {
  if (rf_is_named(c->op)) return; /* it is not in the communicator's order */
  __atomic_fetch_add(&comm->failures, 1, __ATOMIC_RELAXED);
  RF_STORE(&comm->error, (uint32_t)result);
}

static int is_send(uint16_t op) { return op == RF_OP_SEND || op == RF_OP_SSEND || op == RF_OP_SENDRECV; }
static int is_receive(uint16_t op) { return op == RF_OP_RECV; }

INLINE uint64_t add_call(const struct rf_call* c, struct rf_comm* comm, uint64_t seq) {
  __atomic_fetch_add(&comm->calls, rf_call_word(seq, c->op, c->peer, c->flags), __ATOMIC_RELAXED);
  return seq;
}

/* Enters the call on its communicator: counts it, unless the library gives the seq itself. */
static uint64_t take_seq(const struct rf_call* c, struct rf_comm* comm) {
  if (c->seq == RF_SEQ_NONE) return 0;
  if (!comm || (c->flags & RF_CALL_EXECUTION)) return c->seq;
  const uint64_t lane_bit = rf_me.lane < RF_MAX_LANES ? (uint64_t)1 << rf_me.lane : 0;
  if (RF_UNLIKELY(!(__atomic_load_n(&comm->issuers, __ATOMIC_RELAXED) & lane_bit)))
    __atomic_fetch_or(&comm->issuers, lane_bit, __ATOMIC_RELAXED);
  if (RF_UNLIKELY(!lane_bit)) __atomic_fetch_or(&comm->flags, RF_COMM_ISSUER_OVERFLOW, __ATOMIC_RELAXED);
  if (is_send(c->op)) return __atomic_add_fetch(&comm->sends, 1, __ATOMIC_RELEASE);
  if (is_receive(c->op)) return __atomic_add_fetch(&comm->receives, 1, __ATOMIC_RELEASE);
  if (!rf_counts_on_comm(c->op)) return c->seq;
  if (c->seq) {
    raise_to(&comm->entered, c->seq);
    return c->library == RF_LIB_C10D ? c->seq : add_call(c, comm, c->seq);
  }
  if (c->library == RF_LIB_C10D) return 0; /* its tag comes with set_seq */
  return add_call(c, comm, __atomic_add_fetch(&comm->entered, 1, __ATOMIC_RELEASE));
}

uint64_t rf_seq_of(const struct rf_call* c) {
  const struct rf_comm* comm = comm_of(c);
  if (c->seq == RF_SEQ_NONE) return 0;
  if (c->seq || !comm || !rf_is_recording()) return c->seq;
  if (is_send(c->op)) return RF_LOAD(&comm->sends) + 1;
  if (is_receive(c->op)) return RF_LOAD(&comm->receives) + 1;
  return rf_counts_on_comm(c->op) ? RF_LOAD(&comm->entered) + 1 : 0;
}

static void first_collective(const struct rf_call* c) {
  if (rf_is_collective(c->op) || c->op == RF_OP_INIT) rf_set_stage(RF_STAGE_MEMBER);
}

/* A call of MPI inside a call of MPI that the library itself did not make comes from the program: from an
 * attribute's delete function or an error handler. It has no record of its own, so the record is incomplete
 * from here on. */
static void note_nested(const struct rf_call* c) {
  if (c->library != RF_LIB_MPI || rf_me.in_core || !rf_is_recording()) return;
  const struct rf_lane* lane = &rf_lanes[rf_me.lane];
  const struct rf_state* s = &lane->slot[RF_LOAD(&lane->selector) & 1];
  if (s->library != RF_LIB_MPI || rf_is_library_code(c->where)) return;
  rf_opaque(RF_OPAQUE_COMMUNICATION | RF_OPAQUE_NESTED);
}

static void leave(const struct rf_call* c, uint8_t phase, int result) {
  const uint64_t now = rf_now();
  write_record(c, phase, c->seq, 0, result, now);
  write_leave(c, now, result);
}

/* The call's frame is gone, so the lane's state describes it. Whether the library counts it is unknown. */
static void end_abandoned(void) {
  rf_opaque(RF_OPAQUE_COMMUNICATION | RF_OPAQUE_NESTED);
  if (rf_me.epoch == 0 || rf_me.epoch != __atomic_load_n(rf_mine, __ATOMIC_RELAXED)) return;
  const struct rf_state s = rf_state_of(&rf_lanes[rf_me.lane]);
  if (s.where != RF_INSIDE) return;
  const struct rf_call c = {.op = s.op,
                            .library = s.library,
                            .dtype = s.dtype,
                            .reduce_op = s.reduce_op,
                            .flags = s.flags,
                            .comm = s.comm,
                            .peer = s.peer,
                            .recv_peer = s.recv_peer,
                            .tag = s.tag,
                            .count = s.count,
                            .seq = s.seq,
                            .where = (const void*)(uintptr_t)s.return_address, /* NOLINT */
                            .number = s.call};
  struct rf_comm* comm = comm_of(&c);
  if (comm && !(c.flags & RF_CALL_EXECUTION)) note_failure(&c, comm, RF_RESULT_THROWN);
  leave(&c, RF_PHASE_ERROR, RF_RESULT_THROWN);
}

/* For a call of a thread that already has an open call. */
static __attribute__((noinline, cold)) int is_inside(struct rf_call* c) {
  if (rf_is_abandoned(c)) {
    end_abandoned();
    return 0;
  }
  c->depth_before = rf_me.depth++;
  note_nested(c);
  return 1;
}

/* A call of a Python program is made by its Python code, whatever function of C made it in the end. */
static __attribute__((noinline)) void find_python_frames(struct rf_call* c) {
  const uint64_t where = rf_python_where();
  if (where) c->where = (const void*)(uintptr_t)where; /* NOLINT: no address */
}

enum rf_verdict rf_begin(struct rf_call* c) {
  c->outermost = 0;
  c->verdict = RF_DO_FORWARD;
  c->changed = 0;
  if (RF_UNLIKELY(rf_me.depth != 0) && is_inside(c)) return RF_DO_FORWARD;
  c->depth_before = 0;
  rf_me.depth = 1;
  rf_me.open = (uintptr_t)c;
  rf_me.handled_error = 0;
  if (rf_me.in_core || RF_UNLIKELY(!rf_attached())) return RF_DO_FORWARD;
  if (c->library == RF_LIB_MPI && RF_UNLIKELY(rf_is_library_code(c->where))) return RF_DO_FORWARD;
  c->outermost = 1;
  c->lane = rf_me.lane;
  if (RF_UNLIKELY(__atomic_load_n(&rf_python.state, __ATOMIC_RELAXED) != RF_PYTHON_ABSENT))
    find_python_frames(c);
  struct rf_comm* const comm = find_comm(c);
  if (RF_UNLIKELY(rf_me.upper != NULL)) c->verdict = rf_below_upper(c, comm);
  if (rf_is_armed(c->op) && !(c->flags & RF_CALL_EXECUTION) && c->verdict == RF_DO_FORWARD) {
    struct rf_point point = {
        .call = c, .edge = RF_EDGE_BEFORE, .step = rf_current_step(), .seq = rf_seq_of(c)};
    c->verdict = rf_gate(&point);
    if (c->verdict == RF_DO_SKIP) return RF_DO_SKIP;
  }
  if (RF_UNLIKELY(__atomic_load_n(&rf_head->stage, __ATOMIC_RELAXED) < RF_STAGE_MEMBER)) first_collective(c);
  c->number = rf_next_call(rf_me.lane);
  c->seq = take_seq(c, comm);
  const uint64_t now = rf_now();
  write_record(c, RF_PHASE_ENTER, c->seq, (uint64_t)(uintptr_t)c->where, c->tag, now);
  write_state(c, c->seq, RF_INSIDE, now, 0);
  return (enum rf_verdict)c->verdict;
}

void rf_set_seq(struct rf_call* c, uint64_t seq) {
  if (!c->outermost || c->verdict == RF_DO_SKIP || !rf_is_recording()) return;
  c->seq = seq;
  struct rf_comm* comm = comm_of(c);
  if (comm && !(c->flags & RF_CALL_EXECUTION) && rf_counts_on_comm(c->op)) raise_to(&comm->entered, seq);
  const struct rf_lane* lane = &rf_lanes[rf_me.lane];
  rf_write_state(c, seq, RF_INSIDE, lane->slot[lane->selector & 1].since_ns, 0);
}

static void after_edge(struct rf_call* c) {
  if (!rf_is_armed(c->op) || (c->flags & RF_CALL_EXECUTION)) return;
  const uint32_t verdict = c->verdict;
  struct rf_point point = {.call = c, .edge = RF_EDGE_AFTER, .step = rf_current_step(), .seq = c->seq};
  rf_gate(&point);
  c->verdict = verdict;
}

/* A child that was forked inside the call also returns from it: it is not the child's call. */
static int was_recorded(const struct rf_call* c) {
  return c->outermost && c->verdict != RF_DO_SKIP && rf_me.epoch != 0 &&
         rf_me.epoch == __atomic_load_n(rf_mine, __ATOMIC_RELAXED);
}

/* Also correct if a jump left calls that were made inside this one. */
static void leave_depth(const struct rf_call* c) { rf_me.depth = c->depth_before; }

static void end_with(struct rf_call* c, int result) {
  if (was_recorded(c)) {
    struct rf_comm* comm = comm_of(c);
    if (comm && !(c->flags & RF_CALL_EXECUTION)) {
      if (RF_UNLIKELY(result != 0))
        note_failure(c, comm, result);
      else if (c->seq && rf_counts_on_comm(c->op))
        raise_to(&comm->completed, c->seq);
    }
    leave(c, result == RF_RESULT_THROWN ? RF_PHASE_ERROR : RF_PHASE_EXIT, result);
    after_edge(c);
  }
  leave_depth(c);
}

/* A call whose error went to a handler failed, whatever it returns. */
static int outcome(int result) { return result != 0 ? result : rf_me.handled_error; }

int rf_end(struct rf_call* c, int result) {
  end_with(c, outcome(result));
  return result;
}

void rf_end_enqueued(struct rf_call* c, int result) {
  if (RF_UNLIKELY(outcome(result) != 0)) {
    rf_end(c, result); /* refused: nothing is pending */
    return;
  }
  if (was_recorded(c)) {
    leave(c, RF_PHASE_ENQUEUE, 0);
    after_edge(c);
  }
  leave_depth(c);
}

void rf_complete(uint64_t origin, uint32_t comm, uint64_t seq, int result) {
  if (!rf_attached()) return;
  const struct rf_call c = {.comm = comm, .peer = RF_PEER_NONE, .number = (uint32_t)origin};
  struct rf_comm* on = comm_of(&c);
  write_record(&c, result ? RF_PHASE_ERROR : RF_PHASE_COMPLETE, seq, origin, result, rf_now());
  if (!on) return;
  if (result)
    note_failure(&c, on, result);
  else if (seq)
    raise_to(&on->completed, seq);
}

void rf_detail(struct rf_call* c, int32_t peer, uint64_t count, int32_t tag, uint64_t origin) {
  if (!was_recorded(c)) return;
  struct rf_call detail = *c;
  detail.peer = peer;
  detail.count = count;
  write_record(&detail, RF_PHASE_DETAIL, c->seq, origin, tag, rf_now());
}

void rf_polled(int found) {
  if (rf_me.in_core || !rf_attached()) return;
  if (!__atomic_load_n(&rf_head->polled, __ATOMIC_RELAXED)) RF_STORE(&rf_head->polled, 1u);
  if (found) return;
  __atomic_store_n(&rf_lanes[rf_me.lane].polled_ns, rf_now(), __ATOMIC_RELAXED);
}
