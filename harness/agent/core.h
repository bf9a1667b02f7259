/* core.h: what the preloaded core offers to decoders (and to itself), as one versioned table.
 *
 * A decoder is a shared object that the core loads RTLD_LOCAL at the first call of its library. It exports
 * one symbol, `rankfault_decoder_v1`, links to no communication library, keeps no thread-locals, and calls
 * into the core only through this table.
 *
 * A wrapper in a decoder always has the same form:
 *
 *   int wrap_MPI_Allreduce(...) {
 *     struct rf_call call = {...};                      // what the arguments say
 *     enum rf_verdict v = core->begin(&call);           // gate, then enter record
 *     CLEANUP(end_on_unwind, call);                     // -fexceptions: also on a throw
 *     int rc = v == RF_DO_FORWARD ? next(...) : success;
 *     return core->end(&call, rc);                      // exit record, after-edge gate
 *   }
 *
 * begin() and end() nest: the core records and gates only the outermost call of a thread. For an inner call
 * begin() returns RF_DO_FORWARD and end() does nothing. Neither function allocates, locks, logs or makes a
 * system call except the vDSO clock, unless an action is armed on that very point. errno is kept. */
#ifndef RANKFAULT_AGENT_CORE_H
#define RANKFAULT_AGENT_CORE_H

#include <stddef.h>

#include "agent_abi.h"

#define RF_CORE_VERSION 7u

/* rf_call.seq of a call that takes no place in its communicator's order (NCCL: 0 elements). If seq is 0, the
 * core counts collectives, comm_create, comm_free, comm_shrink, comm_agree and finalize. Sends (also
 * sendrecv) and receives have their own counts. */
#define RF_SEQ_NONE UINT64_MAX

enum rf_verdict {
  RF_DO_FORWARD,
  RF_DO_SKIP, /* do not make the call: return success, leave the buffers unchanged */
  RF_DO_FAIL  /* do not make the call: return or throw the library's error `fail_code` */
};

/* In rf_call.flags, never recorded: a write that may write fewer bytes than requested. */
#define RF_CALL_CAN_BE_SHORT 0x8000u

struct rf_call {
  /* filled by the decoder */
  uint16_t op;       /* rf_op */
  uint8_t library;   /* rf_library */
  uint8_t dtype;     /* rf_dtype */
  uint8_t reduce_op; /* rf_reduce_op */
  uint8_t pad;
  uint16_t flags; /* rf_call_flags */
  uint32_t comm;  /* number from comm_add or comm_find; RF_NO_COMM */
  int32_t peer;
  int32_t recv_peer;
  int32_t tag;
  uint64_t count;
  uint64_t needs_mask;
  uint64_t timeout_ns; /* the call's own limit; 0 unknown */
  uint64_t seq;        /* in: given by the library (C10D tag), or 0: the core counts on comm */
  const void* where;   /* return address of the user's call */
  const char* path;    /* inner points: the path, or caller and callee; else null */
  uint64_t pending[2]; /* WAIT: origins of the first requests */
  uint32_t pending_count;
  /* filled by the core; decoders may read */
  uint32_t number; /* rf_record.call */
  uint32_t lane;
  int32_t fail_code;
  uint32_t verdict;
  uint32_t outermost; /* 1: recorded */
  uint32_t changed;   /* rf_changed_arg of an RF_VERB_ARG action; 0 */
  uint64_t changed_to;
  uint32_t armed_after; /* private */
  int32_t depth_before; /* private: of the thread */
  /* Asked with skip_context before an action skips the call. Returns why it cannot be skipped, or null. No
   * function: it can. */
  const char* (*why_not_skip)(void*);
  void* skip_context;
};

/* A group of ranks that upper calls belong to. Its calls are recorded on communicators of the library below.
 */
struct rf_group {
  const char* name; /* may be null */
  uint32_t size;
  uint32_t ordinal; /* of the groups of its kind in this process, from 0 */
  uint32_t is_world;
  uint32_t comm; /* written by the core: the communicator of its recorded collectives; RF_NO_COMM: none yet */
};

/* An upper call: the program makes it, it makes calls of another library, and these are what is recorded (a
 * call of c10d over NCCL). It has no record of its own. Actions act at it, and not at the calls that it
 * makes, unless they name the library of those. */
struct rf_upper_call {
  struct rf_call call;    /* op, library and the two about skips; the rest only if upper_armed() */
  struct rf_group* group; /* null: not known */
  uint32_t is_outermost;  /* private, as the next */
  uint32_t fails;         /* the next recorded call that communicates fails */
};

/* A pass of autograd. The thread that begins it waits inside it while threads of the library make its calls,
 * with no Python frames or with those of a hook. The frames of the thread that waits continue them. */
struct rf_pass {
  /* Filled by the decoder: an address in the object of the pass that the calling thread works for; null:
   * none. The same function in every pass of a process. */
  const void* (*of_thread)(void);
  /* private */
  const void* task;      /* the object of the pass; null: not known yet */
  struct rf_pass* outer; /* the one inside which this thread began it; null */
  uint64_t where;        /* the frames at its begin, as rf_record.where */
  uint64_t behind;       /* what continues the thread's own frames, in the same form; 0: nothing */
  int own;               /* whether the thread's own frames belong to the pass */
  uint32_t epoch;        /* of the record; 0: the pass is not kept */
  uint32_t place;        /* in the table of passes */
};
/* An address is in the object of a pass if it is less than this behind its begin. The addresses of PyTorch
 * are 240 bytes behind it in 1.13, and 288 in 2.9 to 2.13, where an object has more than 1,088 bytes. */
#define RF_PASS_BYTES 512u

struct rf_comm_info {
  uint64_t id, parent, parent_seq, members_hash, handle, timeout_ns;
  uint32_t size;
  int32_t rank;
  uint32_t flags; /* RF_COMM_* except WORLD, which the core sets from the size */
  uint32_t tag;
  uint8_t library, identity;
  const char* name;           /* may be null */
  const int32_t* world_ranks; /* `size` entries, or null */
};

struct rf_core_v1 {
  uint32_t version; /* RF_CORE_VERSION */
  uint32_t bytes;   /* sizeof(struct rf_core_v1) */

  enum rf_verdict (*begin)(struct rf_call*);
  int (*end)(struct rf_call*, int result); /* returns result */
  void (*end_enqueued)(struct rf_call*,
                       int result); /* nonblocking: an ENQUEUE record; the state goes outside */
  void (*complete)(uint64_t origin, uint32_t comm, uint64_t seq, int result); /* pending work seen complete */
  /* Writes a DETAIL record: `peer`, `count` and `tag` of a v-form or of the receiving half of a sendrecv; for
   * a wait, with `origin`, one more of its requests. */
  void (*detail)(struct rf_call*, int32_t peer, uint64_t count, int32_t tag, uint64_t origin);
  void (*set_seq)(struct rf_call*, uint64_t seq); /* the library gave the seq after begin(); before end() */

  uint32_t (*comm_add)(const struct rf_comm_info*); /* number; RF_NO_COMM when full (sets partial) */
  uint32_t (*comm_find)(uint8_t library, uint64_t handle, uint32_t tag); /* live ones only */
  void (*comm_gone)(uint32_t comm);
  const struct rf_comm* (*comm_get)(uint32_t comm); /* null if its entry serves a later one */

  /* At the first initialisation or collective. The values of the environment are a guess, and a larger world
   * of the library overrides them. */
  void (*become_member)(uint8_t library, int32_t rank, int32_t world_size);
  void (*finalized)(uint8_t library);
  void (*coverage)(uint8_t library, const char* decoder, uint32_t version, enum rf_hook, const char* reason);
  void (*opaque)(uint32_t bits); /* RF_OPAQUE_* */
  void (*thread_multiple)(int yes);

  uint32_t (*name)(const char* text);   /* interned offset in the names; 0 when full */
  void* (*resolve)(const char* symbol); /* next definition after the core, in load order; null */
  int (*in_call)(void);                 /* depth of this thread: > 0 inside a recorded call */
  uint64_t (*now_ns)(void);
  void (*nest)(int by); /* +1, -1: inside a function that is not recorded as a call, such as a poll */

  /* A call that may be inside another (rf_is_inner). There are too many to record, so only for an op that
   * some action waits for. FAIL: return fail_code. */
  int (*inner_armed)(uint16_t op);
  enum rf_verdict (*inner_begin)(struct rf_call*);
  void (*inner_end)(struct rf_call*, int result);

  void (*spawned)(void); /* ranks of another world started the world of this process */
  /* Rank and size from one launcher's variables, read now; 0 if none has both. */
  int (*told_by_launcher)(int32_t* rank, int32_t* size);
  int32_t (*rank)(void);                       /* of this process, from its record; -1 */
  int (*is_library_code)(const void* address); /* of MPI's own libraries */
  void (*polled)(int found);                   /* this thread polled, without a wait */

  /* The program's own error handler got this code inside this thread's call; 0 clears it. The call failed,
   * whatever it returns, and end() records the code. The code stays until the next outermost begin(). */
  void (*error_handled)(int code);
  int (*handled_error)(void); /* the first code since then; 0: none */

  /* Each begin has its end, on the same thread, also when an exception passes. The verdict is never FAIL:
   * then the library below fails a call, and the caller reports it in its own way. */
  int (*upper_armed)(uint16_t op); /* whether upper_begin will look at the rest of the call */
  enum rf_verdict (*upper_begin)(struct rf_upper_call*);
  void (*upper_end)(struct rf_upper_call*);

  /* Around a pass of autograd, on the thread that waits for it, also when an exception passes. They nest.
   * Between them the library makes the object of the pass. */
  void (*pass_begin)(struct rf_pass*);
  void (*pass_task)(const void* task);
  void (*pass_end)(struct rf_pass*);
};

/* A name that the decoder wraps. `next` is stored through the pointer before the wrapper can be called. */
struct rf_wrapper {
  const char* symbol;
  void* wrapper;
  void** next;
};

struct rf_decoder_v1 {
  uint32_t version; /* RF_CORE_VERSION */
  uint32_t bytes;
  const char* name;                  /* "gloo_2022" */
  uint8_t library;                   /* rf_library */
  const struct rf_wrapper* wrappers; /* ends with symbol == null */
  /* Called once, before any wrapper. It checks the data structures that the decoder will read. Non-zero: the
   * core passes everything through and records the reason as coverage NONE. */
  int (*attach)(const struct rf_core_v1* core, const char** reason);
};
extern __attribute__((visibility("default"))) const struct rf_decoder_v1 rankfault_decoder_v1;

#endif /* RANKFAULT_AGENT_CORE_H */
