/* gate.c: at an armed point, checks whether an action matches and may fire, and then carries it out. Only
 * reached if some action waits on this very op. */
#include <errno.h>
#include <string.h>

#include "harness/agent/agent.h"
#include "harness/agent/glob.h"
#include "harness/agent/sys.h"

uint64_t rf_phase;

static struct {
  uint32_t matches; /* of the trigger, in this process */
  uint32_t fired;   /* by this process: for each_attempt */
} here[RF_MAX_ARMED];

int64_t rf_current_step(void) {
  return rf_is_recording() ? (int64_t)RF_LOAD(&rf_head->last_step_begun) - 1 : -1;
}

static int group_matches(const struct rf_armed* a, const struct rf_group* group) {
  switch (a->comm_select) {
    case RF_COMM_IS_WORLD:
      return group->is_world != 0;
    case RF_COMM_SIZE:
      return group->size == a->comm_arg0;
    case RF_COMM_NAMED:
      return group->name && rf_hash_text(group->name) == a->comm_arg0;
    case RF_COMM_ORDINAL:
      return group->ordinal == a->comm_arg0;
    default:
      return 0;
  }
}

static int comm_matches(const struct rf_armed* a, const struct rf_point* p) {
  if (a->comm_select == RF_COMM_ANY) return 1;
  if (p->upper) return p->upper->group && group_matches(a, p->upper->group);
  const struct rf_comm* comm = rf_comm_get(p->call->comm);
  if (!comm) return 0;
  switch (a->comm_select) {
    case RF_COMM_IS_WORLD:
      return (comm->flags & RF_COMM_WORLD) != 0;
    case RF_COMM_SIZE:
      return comm->size == a->comm_arg0;
    case RF_COMM_NAMED:
      return comm->name && rf_hash_text(rf_name_text(comm->name)) == a->comm_arg0;
    case RF_COMM_ORDINAL:
      return comm->ordinal == a->comm_arg0;
    default:
      return 0;
  }
}

static int is_done(int32_t action) {
  return action < 0 || (action < (int32_t)RF_MAX_ARMED && RF_LOAD(&rf_control->armed[action].done) > 0);
}

static int path_matches(const struct rf_armed* a, const char* path) {
  return !a->path[0] || (path && rf_glob(a->path, path));
}

/* An action that names no library is about the calls that the program made: not about those that its upper
 * call makes. Only communication has an upper call: the making of a communicator has none. */
static int is_at_its_library(const struct rf_armed* a, const struct rf_call* c) {
  if (a->library) return a->library == c->library;
  return !rf_me.upper || !rf_is_communication(c->op);
}

static int matches(const struct rf_armed* a, const struct rf_point* p) {
  const struct rf_call* c = p->call;
  if (a->op != RF_OP_NONE ? a->op != c->op : !rf_is_collective(c->op)) return 0;
  return a->edge == p->edge && (a->rank == -1 || a->rank == rf_rank()) &&
         (a->attempt < 0 || a->attempt == rf_self.attempt) && (a->step < 0 || a->step == p->step) &&
         (!a->phase || a->phase == rf_phase) && (!a->mark || a->mark == p->mark) && is_at_its_library(a, c) &&
         comm_matches(a, p) && path_matches(a, c->path) && is_done(a->after);
}

int rf_path_is_armed(uint16_t op, const char* path) {
  const uint32_t count = rf_control ? rf_control->armed_count : 0;
  for (uint32_t i = 0; i < count && i < RF_MAX_ARMED; ++i)
    if (rf_control->armed[i].op == op && path_matches(&rf_control->armed[i], path)) return 1;
  return 0;
}

/* The nth match fires, then each every-th one, at most `times` times. */
static int is_due(const struct rf_armed* a, uint32_t nth) {
  if (nth < a->nth) return 0;
  const uint64_t further = nth - a->nth;
  const uint64_t every = a->every ? a->every : 1;
  return further % every == 0 && further / every < a->times;
}

static int has_firings_left(struct rf_armed* a) {
  if (a->each_attempt)
    return __atomic_load_n(&here[a - rf_control->armed].fired, __ATOMIC_RELAXED) < a->times;
  return RF_LOAD(&a->fired) < a->times;
}

/* Granted beforehand: only the count in the control page decides. */
static int take_firing(struct rf_armed* a) {
  if (!has_firings_left(a)) return 0;
  const uint64_t before = __atomic_fetch_add(&a->fired, 1, __ATOMIC_ACQ_REL);
  if (a->each_attempt || before < a->times) return 1;
  __atomic_fetch_sub(&a->fired, 1, __ATOMIC_ACQ_REL);
  return 0;
}

static void delay(uint64_t ns) {
  const uint64_t deadline = rf_now() + ns;
  for (uint64_t now = rf_now(); now < deadline && !RF_LOAD(&rf_control->harness_gone); now = rf_now())
    rf_sys_sleep_until(deadline - now > 100000000u ? now + 100000000u : deadline);
}

static int changes_argument(struct rf_call* c, const struct rf_armed* a) {
  switch (a->arg[0]) {
    case RF_ARG_COUNT:
      c->count = a->arg[1];
      break;
    case RF_ARG_DTYPE:
      c->dtype = (uint8_t)a->arg[1];
      break;
    case RF_ARG_ROOT:
    case RF_ARG_PEER:
      c->peer = (int32_t)a->arg[1];
      break;
    case RF_ARG_REDUCE_OP:
      c->reduce_op = (uint8_t)a->arg[1];
      break;
    default:
      return 0;
  }
  c->changed = (uint32_t)a->arg[0];
  c->changed_to = a->arg[1];
  return 1;
}

static int can_change(const struct rf_armed* a, const struct rf_point* p) {
  const struct rf_call* c = p->call;
  if (p->upper) return 0;
  if (c->library != RF_LIB_LIBC) return c->library != RF_LIB_MARK;
  return (c->flags & RF_CALL_CAN_BE_SHORT) && a->arg[0] == RF_ARG_COUNT && a->arg[1] < c->count;
}

/* Whether the verb can act here. An inner libc point allows only an end, a stop, a failure, a short write, or
 * an action from outside. */
static int is_able(const struct rf_armed* a, const struct rf_point* p) {
  const int before = p->edge == RF_EDGE_BEFORE;
  switch (a->verb) {
    case RF_VERB_SKIP:
      return before && p->call->library != RF_LIB_LIBC;
    case RF_VERB_FAIL:
      return before && p->call->library != RF_LIB_MARK;
    case RF_VERB_ARG:
      return before && can_change(a, p);
    case RF_VERB_FLIP:
      return before && p->value != NULL && a->arg[0] < 64;
    case RF_VERB_DELAY:
      return !p->inner;
    case RF_VERB_EXIT:
    case RF_VERB_RAISE:
    case RF_VERB_OUTSIDE:
      return 1;
    default:
      return 0;
  }
}

struct firing {
  struct rf_armed* armed;
  struct rf_park park;
  uint64_t began_ns; /* arrival at the gate; 0: the hold time is not needed */
  uint32_t nth;
};

static void note_held(struct rf_armed* a, uint64_t ns) {
  uint64_t least = __atomic_load_n(&a->held_least_ns, __ATOMIC_RELAXED);
  while ((least == 0 || ns < least) &&
         !__atomic_compare_exchange_n(&a->held_least_ns, &least, ns, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

static const char* why_not_skip(const struct rf_armed* a, const struct rf_point* p) {
  const struct rf_call* c = p->call;
  return a->verb == RF_VERB_SKIP && c->why_not_skip ? c->why_not_skip(c->skip_context) : NULL;
}

static void report(const struct rf_point* p, struct firing* f, uint32_t effect, const char* why) {
  if (f->began_ns && effect == RF_EFFECT_DONE) note_held(f->armed, rf_now() - f->began_ns);
  /* the actor counts an action from outside: the victim may not live to report it */
  if (effect == RF_EFFECT_DONE && f->armed->verb != RF_VERB_OUTSIDE)
    __atomic_add_fetch(&f->armed->done, 1, __ATOMIC_ACQ_REL);
  rf_note_action(p, f->armed, f->nth, effect, f->park.parked_ns);
  if (f->armed->ask) rf_report(&f->park, effect, why);
}

static enum rf_verdict act(struct rf_point* p, struct firing* f) {
  const struct rf_armed* a = f->armed;
  enum rf_verdict verdict = RF_DO_FORWARD;
  const int able = is_able(a, p);
  const char* why_not = able ? why_not_skip(a, p) : NULL;
  if (!able || why_not) {
    report(p, f, RF_EFFECT_UNABLE, why_not);
    return RF_DO_FORWARD;
  }
  if (a->verb == RF_VERB_DELAY) delay(a->arg[0]);
  if (a->verb == RF_VERB_ARG && !changes_argument(p->call, a)) {
    report(p, f, RF_EFFECT_UNABLE, NULL);
    return RF_DO_FORWARD;
  }
  if (a->verb == RF_VERB_FLIP) *p->value ^= (uint64_t)1 << a->arg[0];
  if (a->verb == RF_VERB_SKIP) verdict = RF_DO_SKIP;
  if (a->verb == RF_VERB_FAIL) {
    p->call->fail_code = (int32_t)a->arg[0];
    verdict = RF_DO_FAIL;
  }
  report(p, f, RF_EFFECT_DONE, NULL); /* before an end: afterwards no thread can report it */
  if (a->verb == RF_VERB_RAISE) rf_sys_kill(rf_sys_pid(), (int)a->arg[0]);
  if (a->verb == RF_VERB_EXIT) {
    rf_note_exit(RF_EXIT_UNDERSCORE, (int)a->arg[0]);
    rf_sys_exit((int)a->arg[0]);
  }
  return verdict;
}

static enum rf_verdict fire(struct rf_point* p, struct rf_armed* a, uint32_t nth) {
  struct firing f = {.armed = a, .nth = nth};
  if (a->ask) {
    if (!has_firings_left(a)) return RF_DO_FORWARD;
    const enum rf_answer answer = rf_ask(p, a, nth, &f.park);
    if (answer == RF_ANSWER_NONE) {
      rf_set_partial(RF_PARTIAL_PARK);
      rf_note_action(p, a, nth, RF_EFFECT_ABANDONED, f.park.parked_ns);
      return RF_DO_FORWARD;
    }
    if (answer == RF_ANSWER_NO_GO) {
      rf_note_action(p, a, nth, RF_EFFECT_REFUSED, f.park.parked_ns);
      rf_report(&f.park, RF_EFFECT_REFUSED, NULL);
      return RF_DO_FORWARD;
    }
  } else if (!take_firing(a)) {
    return RF_DO_FORWARD;
  } else if (a->verb == RF_VERB_DELAY) {
    f.began_ns = rf_now();
  }
  __atomic_add_fetch(&here[a - rf_control->armed].fired, 1, __ATOMIC_RELAXED);
  return act(p, &f);
}

enum rf_verdict rf_gate(struct rf_point* p) {
  if (!rf_control || RF_LOAD(&rf_control->harness_gone)) return RF_DO_FORWARD;
  const int error = errno;
  enum rf_verdict verdict = RF_DO_FORWARD;
  const uint32_t count = rf_control->armed_count < RF_MAX_ARMED ? rf_control->armed_count : RF_MAX_ARMED;
  for (uint32_t i = 0; i < count && verdict == RF_DO_FORWARD; ++i) {
    struct rf_armed* a = &rf_control->armed[i];
    if (!matches(a, p)) continue;
    const uint32_t nth = __atomic_add_fetch(&here[i].matches, 1, __ATOMIC_RELAXED);
    if (is_due(a, nth)) verdict = fire(p, a, nth);
  }
  errno = error;
  return verdict;
}
