/* agent.h: the internals that the core's files share. Nothing here is exported.
 *
 * Order of checks on the hot path: the flag page says whether this process may use what the static variables
 * point to (a forked child finds the page wiped). Then the thread's own block says where its lane is. Only
 * then does the code touch shared memory. */
#ifndef RANKFAULT_AGENT_AGENT_H
#define RANKFAULT_AGENT_AGENT_H

#include "harness/agent/core.h"
#include "harness/agent/core_table.h"

#define RF_LIKELY(x) __builtin_expect(!!(x), 1)
#define RF_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define RF_TLS __thread __attribute__((tls_model("initial-exec")))

/* ---- the identity of this process: process.c -------------------------------------------------- */

struct rf_identity_of_process {
  uint64_t host_id, pid_ns, start_time;
  int32_t pid, image;
  int32_t rank, world_size, local_rank, attempt; /* from the environment; -1 unknown, attempt 0 */
  char rank_source[32];
  uint64_t rendezvous;             /* number of the job's rendezvous on several nodes; 0: one node */
  char records[RF_PATH_BYTES * 2]; /* $RANKFAULT_RUN_DIR/records; empty: inert */
};
extern struct rf_identity_of_process rf_self;
void rf_read_environment(void); /* once, at start */
/* Reads rank and size from one launcher's variables, now: a program may set its own. Returns 0 if none has
 * both. */
int rf_told_by_launcher(int32_t* rank, int32_t* size);
struct rf_control;
void rf_count_rendezvous(struct rf_control*); /* attempt, for a job of several nodes */
void rf_read_identity(void);                  /* again in a forked child */
void rf_read_ancestors(int32_t pids[RF_MAX_ANCESTORS]);

/* ---- the flight record of this process: ring.c ----------------------------------------------- */

/* Epoch of the open record, on its own page; a forked child finds it zeroed. */
extern const uint32_t* rf_mine;
extern struct rf_header* rf_head; /* mapped once the process is a candidate */
extern struct rf_lane* rf_lanes;  /* these four: mapped at the first call */
extern struct rf_comm* rf_comms;
extern char* rf_names;
extern int32_t* rf_members;
extern struct rf_record* rf_history[RF_MAX_LANES + 1];

void rf_start(void);      /* idempotent; from the constructor and from the first resolved name */
int rf_inert(void);       /* no run directory: everything passes through */
int rf_open_record(void); /* header and body for this process; 0: usable */
int rf_open_header(void);
void rf_map_lane(uint32_t lane);
/* Allocates and maps a part of the file that has the record's name with another ending. Null: refused. */
void* rf_map_beside_record(const char* ending, uint64_t offset, uint64_t bytes);
void rf_set_partial(uint32_t bit);
void rf_set_stage(uint32_t stage);
int rf_is_recording(void); /* this process has its header and has not forked since */
int rf_is_open(void);      /* and its body */

/* The control page; without one, rf_armed_ops points to two zero words. */
extern struct rf_control* rf_control;
extern const uint64_t* rf_armed_ops;

/* ---- lanes and records: lanes.c, record.c ----------------------------------------------------- */

struct rf_thread {
  uint32_t epoch; /* of the record the lane belongs to */
  uint32_t lane;
  uint32_t tid;
  int32_t depth;
  int32_t in_core;             /* resolving: calls that the loader makes for the core pass through */
  int32_t handled_error;       /* the code that the program's own error handler got inside the open call; 0 */
  uintptr_t open;              /* stack address of the description of the outermost open call */
  struct rf_upper_call* upper; /* the outermost one that the thread is in; null */
  struct rf_pass* pass;        /* the innermost one that the thread began; null */
};
extern RF_TLS struct rf_thread rf_me;
int rf_attach_thread(void); /* 0: rf_me.lane is valid */
void rf_clean_stack(void);  /* stack.c: at the end of a step that runs before a call goes on */
uint32_t rf_next_call(uint32_t lane);

static inline int rf_attached(void) {
  return __builtin_expect(rf_me.epoch == __atomic_load_n(rf_mine, __ATOMIC_RELAXED) && rf_me.epoch != 0, 1) ||
         rf_attach_thread() == 0;
}

/* Adds one to a counter that only this thread and its signal handlers change, and returns the old value. It
 * is one instruction, so no handler can interrupt it, and it avoids the bus lock that other threads would
 * need (5 ns). */
static inline uint64_t rf_count_own(uint64_t* counter) {
#if defined(__x86_64__)
  uint64_t was = 1;
  __asm__ volatile("xaddq %0, %1" : "+r"(was), "+m"(*counter) : : "cc");
  return was;
#else
  return __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
#endif
}
/* The same for a counter of a lane; threads share the overflow lane. */
static inline uint64_t rf_count_on_lane(uint32_t lane, uint64_t* counter) {
  return RF_UNLIKELY(lane == RF_MAX_LANES) ? __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED)
                                           : rf_count_own(counter);
}

struct rf_record* rf_claim_record(uint32_t lane, uint64_t* commit);
static inline void rf_commit_record(struct rf_record* r, uint64_t commit) { RF_STORE(&r->commit, commit); }
void rf_write_state(const struct rf_call* call, uint64_t seq, uint32_t where, uint64_t now, int32_t result);

uint64_t rf_now(void);     /* clock.c: CLOCK_MONOTONIC, in nanoseconds */
void rf_clock_start(void); /* from rf_start */
int rf_counts_on_comm(uint16_t op);

enum rf_verdict rf_begin(struct rf_call* call);
int rf_end(struct rf_call* call, int result);
void rf_end_enqueued(struct rf_call* call, int result);
void rf_complete(uint64_t origin, uint32_t comm, uint64_t seq, int result);
void rf_detail(struct rf_call* call, int32_t peer, uint64_t count, int32_t tag, uint64_t origin);
void rf_set_seq(struct rf_call* call, uint64_t seq);
int rf_is_abandoned(
    const struct rf_call* next); /* abandoned.c: the thread's open call, as its next one finds */
void rf_polled(int found);
uint64_t rf_seq_of(const struct rf_call* call); /* its seq, or the next one */

/* ---- communicators and names: comms.c, names.c ------------------------------------------------ */

uint32_t rf_comm_add(const struct rf_comm_info* info);
uint32_t rf_comm_find(uint8_t library, uint64_t handle, uint32_t tag);
void rf_comm_gone(uint32_t comm);
const struct rf_comm* rf_comm_get(uint32_t comm);
void rf_comms_reset(void);
int rf_has_live_world(uint8_t library);
/* members.c: lists of world ranks; equal lists are kept once. The caller holds the lock of the
 * communicators. */
uint32_t rf_members_keep(const int32_t* ranks, uint32_t size); /* its place; RF_NO_MEMBERS: no room */
void rf_members_share(uint32_t at);                            /* one more communicator has this list */
void rf_members_release(uint32_t at);
void rf_members_reset(void);
uint32_t rf_name(const char* text);
/* Returns 0 for a new name when the names are half full, because communicators do not need one. */
uint32_t rf_comm_name(const char* text);
const char* rf_name_text(uint32_t offset);
void rf_names_reset(void);

/* ---- statements about the whole process: announce.c ------------------------------------------- */

void rf_become_member(uint8_t library, int32_t rank, int32_t world_size);
void rf_spawned(void);
void rf_finalized(uint8_t library);
void rf_coverage(uint8_t library, const char* decoder, uint32_t version, enum rf_hook hook,
                 const char* reason);
/* At an orderly end: records that NCCL was loaded but none of its calls were seen. */
void rf_cover_unseen(void);
void rf_opaque(uint32_t bits);
void rf_thread_multiple(int yes);
void rf_announce_again(void); /* writes the parent's library data into a newly opened header */
int32_t rf_rank(void);
/* threads.c: before and after MPI's initialisation; the second writes own_threads into the header. */
void rf_threads_before_mpi(void);
void rf_threads_after_mpi(void);

/* ---- the gate: gate.c, park.c, actions.c ------------------------------------------------------- */

struct rf_point {
  struct rf_call* call;
  uint32_t edge;
  int64_t step;  /* the mark's own, or the last begun; -1 none */
  uint64_t mark; /* rf_hash of a mark's name */
  uint64_t seq;
  uint64_t* value;                   /* VALUE marks: the value that a flip changes */
  int inner;                         /* a point inside another call */
  const struct rf_upper_call* upper; /* its own point; else null */
};
static inline int rf_is_armed(uint16_t op) {
  return RF_UNLIKELY((__atomic_load_n(&rf_armed_ops[(op >> 6) & 1], __ATOMIC_RELAXED) >> (op & 63)) & 1);
}
enum rf_verdict rf_gate(struct rf_point* point);
int rf_path_is_armed(uint16_t op, const char* path);
int64_t rf_current_step(void);
extern uint64_t rf_phase; /* hash of the phase the program is in */

/* Asks the harness and waits. Returns its answer; RF_ANSWER_NONE if the question was abandoned. */
struct rf_park {
  struct rf_gate_slot* slot;
  uint64_t asked_ns, parked_ns;
};
enum rf_answer rf_ask(const struct rf_point* point, const struct rf_armed* armed, uint32_t nth,
                      struct rf_park* park);
void rf_report(struct rf_park* park, uint32_t effect, const char* why); /* `why`: of UNABLE; may be null */
void rf_note_action(const struct rf_point* point, const struct rf_armed* armed, uint32_t nth, uint32_t effect,
                    uint64_t parked_ns);
void rf_actions_reset(void);

/* ---- ends, names of other libraries --------------------------------------------------------------- */

void rf_watch_exits(void);                   /* exits.c; once a header is open */
void rf_arm_death_notice(struct rf_header*); /* death_notice.c; reports the death of the calling thread */
void rf_note_exit(uint32_t how, int status); /* only if this process owns the header */
void* rf_resolve_next(const char* symbol);   /* link_map.c; its library stays loaded from now on */
/* link_map.c: returns the first definition after the agent in load order, by the symbol tables alone: for
 * functions of libc and its loader, which stay loaded. */
void* rf_next_function(const char* symbol);
/* The same, of the program and the libraries that were loaded with it: these are never unloaded. */
void* rf_lasting_symbol(const char* symbol);
void rf_count_objects_at_start(void); /* in the constructor */
void rf_note_modules(void);           /* writes the loader's object count into the header */
int rf_is_next_definition(const char* symbol, const void* address); /* by the symbol tables alone */
/* Whether an object after the agent defines the name, by the symbol tables alone: also at the end of a
 * process, when dlopen would run the constructors of ended libraries again (glibc's _dl_fini clears
 * l_init_called). */
int rf_is_defined(const char* symbol);
int rf_same_object(const void* one, const void* other); /* both addresses are in one loaded object */
int rf_is_library_code(const void* address);            /* callers.c: of MPI's own libraries */
void rf_forget_callers(void);                           /* callers.c: before more objects are loaded */
const char* rf_own_folder(void);                        /* with a slash at its end */
const char* rf_decoder_folder(void);                    /* $RANKFAULT_DECODERS; empty: beside the agent */
void* rf_absent(const char* symbol); /* missing_names.c: the function to call when no library defines it */

struct rf_decoder_choice {
  uint8_t library;
  const char* probe; /* must resolve in the process */
  const char* file;
};
extern const struct rf_decoder_choice rf_decoder_choices[];

int rf_file_wanted(uint16_t op, const char* path); /* files.c */
enum rf_verdict rf_file_begin(struct rf_call* call);

int rf_is_own_process(void); /* inner.c; a vfork child has our memory, not our record */
int rf_inner_armed(uint16_t op);
enum rf_verdict rf_inner_begin(struct rf_call* call);
void rf_inner_end(struct rf_call* call, int result);

/* upper.c */
int rf_upper_armed(uint16_t op);
enum rf_verdict rf_upper_begin(struct rf_upper_call* upper);
void rf_upper_end(struct rf_upper_call* upper);
/* For a recorded call inside an upper one, before its own gate: whether it fails in the place of the upper
 * one. */
enum rf_verdict rf_below_upper(struct rf_call* call, struct rf_comm* comm);
void rf_upper_made_comm(uint32_t comm); /* a communicator was made inside the thread's upper call */
static inline int rf_is_message(uint16_t op) { return op >= RF_OP_SEND && op <= RF_OP_SENDRECV; }
static inline int rf_is_communication(uint16_t op) { return rf_is_collective(op) || rf_is_message(op); }

/* passes.c */
void rf_pass_begin(struct rf_pass* pass);
void rf_pass_task(const void* task);
void rf_pass_end(struct rf_pass* pass);
void rf_passes_reset(void); /* for a newly opened record */
/* What continues the Python frames of the calling thread, as rf_record.where; 0: nothing. `own`: whether the
 * frames of the thread belong to what it does now. */
uint64_t rf_frames_behind(int* own);

extern const struct rf_core_v1 rf_core;

#endif /* RANKFAULT_AGENT_AGENT_H */
