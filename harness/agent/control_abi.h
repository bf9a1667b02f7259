/* control_abi.h: the part of agent_abi.h about actions on a rank. The control page carries requests and
 * answers, and action records note what was done. The flight record, which is another file, has what the rank
 * itself did.
 *
 * Only agent_abi.h includes this file; its version, access rules and types also apply here. */
#ifndef RANKFAULT_CONTROL_ABI_H
#define RANKFAULT_CONTROL_ABI_H

#ifndef RANKFAULT_AGENT_ABI_H
#error "include harness/agent/agent_abi.h"
#endif

/* How a file was opened: rf_record.flags of the EXIT of a file_open; they share no bit with the rf_call_flags
 * of such a call. */
enum rf_open_flags {
  RF_OPEN_READS = 1u << 12,
  RF_OPEN_WRITES = 1u << 13,
  RF_OPEN_EMPTIES = 1u << 14 /* removes the old content */
};

/* ---- actions on a process ----------------------------------------------------------------------- */

/* 6, 7 and 10 are unused. */
enum rf_verb {
  RF_VERB_NONE,
  RF_VERB_SKIP,         /* do not make the call; return success */
  RF_VERB_DELAY,        /* arg0 ns before the enter record (edge before) or after the exit record */
  RF_VERB_FAIL,         /* the library's own error: arg0 is its code; libc: arg0 is the errno */
  RF_VERB_ARG,          /* arg0: rf_changed_arg, arg1: new value */
  RF_VERB_FLIP,         /* arg0: bit index in the payload, before the call */
  RF_VERB_EXIT = 8,     /* _exit(arg0) */
  RF_VERB_RAISE,        /* kill(getpid(), arg0) by the thread at the point; exact, also for STOP */
  RF_VERB_OUTSIDE = 11, /* the harness acts while the thread is parked, then answers */
  RF_VERB_COUNT
};
enum rf_changed_arg { RF_ARG_COUNT = 1, RF_ARG_DTYPE, RF_ARG_ROOT, RF_ARG_REDUCE_OP, RF_ARG_PEER };
enum rf_effect { RF_EFFECT_NONE, RF_EFFECT_DONE, RF_EFFECT_REFUSED, RF_EFFECT_ABANDONED, RF_EFFECT_UNABLE };

struct rf_action_record { /* 96 bytes */
  uint64_t commit;        /* index + 1, stored last */
  uint64_t time_ns;       /* when it took effect */
  uint64_t parked_ns;     /* total time that the agent held the thread */
  uint64_t seq;           /* the seq the call has, or would have had */
  uint64_t comm_id;
  uint64_t count;
  uint64_t arg;    /* the applied value: ns slept, code, ... */
  uint32_t action; /* id of the armed action */
  uint32_t verb;
  uint32_t effect;
  uint32_t lane;
  int32_t peer;
  int32_t tag;
  uint16_t op;
  uint8_t library;
  uint8_t edge;
  uint32_t nth; /* which match of the trigger this was in this process */
  uint64_t reserved;
};
struct rf_actions_header { /* 4096 bytes, records follow */
  uint64_t magic;
  uint32_t abi_version;
  uint32_t header_bytes;
  uint64_t host_id, pid_ns, start_time;
  int32_t pid, image;
  uint64_t claimed; /* records claimed so far; those beyond the capacity are lost and counted here */
};

/* ---- control page: one per run, mapped by the harness, the guardian and every process -------- */

enum rf_edge { RF_EDGE_BEFORE, RF_EDGE_AFTER };
enum rf_comm_select {
  RF_COMM_ANY,
  RF_COMM_IS_WORLD,
  RF_COMM_SIZE,   /* comm_arg0: size; the victim is a member by itself */
  RF_COMM_NAMED,  /* comm_arg0: rf_hash of the library's own name */
  RF_COMM_ORDINAL /* comm_arg0: n-th communicator of the library, from 0 */
};

struct rf_armed { /* one action waiting for its trigger; written before launch, except the counters */
  uint32_t id;    /* index in the table */
  uint32_t verb;
  int32_t rank;    /* the victim; -1: any process (libc points before a rank is known) */
  int32_t attempt; /* -1 any */
  uint32_t op;     /* rf_op; RF_OP_NONE: any collective */
  uint32_t edge;
  uint32_t comm_select;
  uint32_t ask; /* 1: park and ask; 0: granted beforehand, only recorded */
  uint64_t comm_arg0;
  int64_t step;   /* -1 any: last step begun by this process */
  uint64_t phase; /* rf_hash of the phase's name, 0 any */
  uint64_t mark;  /* rf_hash of the mark's name, 0 any (op MARK) */
  uint64_t nth;   /* fire at this match, from 1 */
  uint64_t every; /* after nth: at each every-th further match; 0: at each match while `times` allows */
  uint64_t times; /* firings in the whole run; UINT64_MAX: always */
  int32_t after;  /* id of an armed action that must be done first; -1 */
  uint32_t each_attempt; /* 1: `fired` counts per attempt */
  uint64_t arg[4];
  char path[RF_PATH_BYTES]; /* libc points: fnmatch pattern; empty: any */
  /* counters, changed during the run */
  uint64_t fired;         /* granted so far, over all processes and attempts */
  uint64_t done;          /* counted by the actor: the agent; the harness for RF_VERB_OUTSIDE */
  uint64_t held_least_ns; /* RF_VERB_DELAY without a question: the shortest hold of a thread; 0: none */
  uint32_t library;       /* rf_library whose calls match; RF_LIB_NONE: of the calls that the program made */
  uint32_t pad;
  uint64_t reserved[2];
};

#define RF_WHY_BYTES 80u
#define RF_GROUP_BYTES 28u

enum rf_gate_state {
  RF_GATE_FREE,
  RF_GATE_CLAIMED,
  RF_GATE_ASKED,
  RF_GATE_ANSWERED,
  RF_GATE_DONE,
  RF_GATE_ABANDONED
};
enum rf_answer { RF_ANSWER_NONE, RF_ANSWER_GO, RF_ANSWER_NO_GO, RF_ANSWER_RELEASE };

/* One parked thread. FREE -agent claims-> CLAIMED -agent fills, rings-> ASKED -harness-> ANSWERED -agent
 * acted, rings-> DONE -harness frees-> FREE. An agent that waited too long moves ASKED to ABANDONED by
 * compare-and-swap and continues; the harness also frees that slot. */
struct rf_gate_slot { /* 512 bytes */
  uint32_t state;     /* rf_gate_state; the agent's futex while parked */
  uint32_t answer;    /* rf_answer; written before ANSWERED */
  uint32_t action;
  uint32_t effect; /* rf_effect; written before DONE */
  int32_t pid;
  int32_t image;
  uint64_t start_time;
  uint64_t pid_ns;
  int32_t rank;
  int32_t attempt;
  uint32_t lane;
  int32_t tid;
  uint64_t asked_ns;
  uint64_t done_ns;
  uint64_t comm_id;
  uint64_t seq; /* would-be seq */
  uint64_t count;
  int64_t step;
  int32_t peer;
  int32_t tag;
  uint16_t op;
  uint8_t library;
  uint8_t edge;
  uint32_t nth;
  uint64_t arg;
  char path[RF_PATH_BYTES];
  char why[RF_WHY_BYTES]; /* of RF_EFFECT_UNABLE: the reason; empty: none is known */
  char
      group[RF_GROUP_BYTES]; /* of an upper call: the beginning of its group's name; comm_id and seq are those
                                that its first recorded call would have, comm_id 0 if there is none yet */
  uint32_t is_upper;         /* 1: an upper call (core.h), which has no record */
  uint64_t reserved[2];
};

#define RF_MAX_RENDEZVOUS 16u

struct rf_control {
  uint64_t magic;
  uint32_t abi_version;
  uint32_t control_bytes;
  uint32_t harness_gone;  /* set by the guardian, or by the tool when it no longer answers */
  uint32_t doorbell;      /* futex: increases with each ASKED and DONE */
  uint32_t guardian_bell; /* futex: increases when the guardian should look (census before a kill) */
  uint32_t armed_count;
  uint64_t armed_ops[2]; /* bit op: some action waits on that op; all bits for RF_OP_NONE's collectives */
  uint64_t park_limit_ns;
  uint64_t clock_word; /* virtual time of the run, ns added to every clock; 0 */
  uint64_t run_started_ns;
  int32_t world_size;
  uint32_t libc_points; /* 1: some action waits on a libc point */
  /* For a launcher with several nodes: the rendezvous of the job in the order of their first processes; 0
   * free. An index is an attempt: the nodes' own counts differ. */
  uint64_t rendezvous[RF_MAX_RENDEZVOUS];
  uint64_t reserved[6];
  struct rf_armed armed[RF_MAX_ARMED];
  struct rf_gate_slot slots[RF_MAX_GATE_SLOTS];
};

RF_STATIC_ASSERT(sizeof(struct rf_action_record) == 96, "action record");
RF_STATIC_ASSERT(sizeof(struct rf_gate_slot) == 512, "gate slot");
RF_STATIC_ASSERT(RF_OP_COUNT <= 128, "armed_ops has 128 bits");

#endif /* RANKFAULT_CONTROL_ABI_H */
