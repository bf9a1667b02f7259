/* agent_abi.h: the one header that harness and agent share: the bytes of a flight record here, those of its
 * communicators in comm_abi.h, and those of an action record and of the control page in control_abi.h.
 *
 * Everything here is read by another process, at any instant, also after SIGKILL of the writer.
 * So: fixed-width fields, no pointers that mean anything outside their process, and one rule for what is
 * whole: a state because its selector names it (left_call tells whether the thread has left that call), a
 * record because of its commit word, a counter as one word.
 *
 * C11 and C++20 both include this file. Words written by one process and read by another are
 * plain fixed-width fields here; both sides access them only with the RF_LOAD and RF_STORE macros
 * below (acquire and release), never directly. Times are CLOCK_MONOTONIC nanoseconds; ranks int32_t, or -1.
 *
 * Records of libc points carry no communicator: `seq` is the offset of the path in the names, the result of
 * their EXIT is the errno. That of a file_open (with rf_open_flags), and of an shm_create which surely made
 * it, has the file's inode in `count` and its birth (CLOCK_REALTIME, ns; 0: not kept) in `where`, else 0.
 * Records of marks have phase EVENT, the name's offset in `tag_or_result`, the step or number in `count` and,
 * for VALUE, the 64-bit value in `where`. Records of device_alloc, device_launch and device_query have who
 * called what ("nccl:cudaMalloc") as a libc point has its path. A stream_wait has the rf_host_wait as its
 * tag; the operations of other libraries that it waits for are its requests. An operation of NCCL has a
 * number of its stream as tag, or 0; a comm_create by a unique id RF_TAG_OF_ID of the communicator, its size
 * as count and the caller's rank in it as peer. A nonblocking collective of MPI whose members owe different
 * counts has a DETAIL whose `where` is its needs_mask; one in which ranks take shares of others has rf_taken
 * as its tag.
 *
 * Changing any layout or number below changes RF_ABI_VERSION. A reader refuses other versions. */
#ifndef RANKFAULT_AGENT_ABI_H
#define RANKFAULT_AGENT_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RF_ABI_VERSION 6u                      /* 6: a lane tells in a line of its own that a call was left */
#define RF_RING_MAGIC 0x676e697246524b4eull    /* flight record */
#define RF_ACTIONS_MAGIC 0x74636146524b4e00ull /* action record */
#define RF_CONTROL_MAGIC 0x6c7274436652b4e0ull /* control page */

#define RF_LOAD(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define RF_STORE(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)

/* Capacities. What does not fit sets RF_PARTIAL_* and nothing on that process is proven. */
#define RF_MAX_LANES 64u      /* plus one overflow lane, index RF_MAX_LANES */
#define RF_LANE_RECORDS 4096u /* a power of two */
#define RF_MAX_COMMS 256u     /* that live at the same time */
#define RF_MAX_ANCESTORS 8u
#define RF_MAX_OWN_THREADS 8u
#define RF_MAX_LIBRARIES 8u
#define RF_NAME_BYTES 16384u
#define RF_MAX_MEMBERS 16384u
#define RF_MAX_ACTION_RECORDS 2048u
#define RF_MAX_ARMED 256u
#define RF_MAX_GATE_SLOTS 256u
#define RF_PATH_BYTES 256u

enum rf_need { /* the class of an op's needs: docs/internals/diagnosis-waits.md; NOBODY when 0 bytes move */
               RF_NEED_NOBODY,
               RF_NEED_EVERYONE,         /* every member */
               RF_NEED_EVERYONE_IF_ROOT, /* every member, when this rank is the root, else nobody */
               RF_NEED_ROOT_UNLESS_ROOT, /* the root, when this rank is not it */
               RF_NEED_OWED,             /* members that owe this rank more than 0 bytes */
               RF_NEED_OWED_IF_ROOT,     /* the same, at the root only */
               RF_NEED_OWED_REDUCED,     /* every member, when this rank's own share is more than 0 bytes */
               RF_NEED_LOWER_RANKS,
               RF_NEED_PEER,
               RF_NEED_BY_MODE,     /* a send: the matching receive when RF_CALL_RENDEZVOUS, else nobody */
               RF_NEED_REQUESTS,    /* all requests of the call */
               RF_NEED_ANY_REQUEST, /* one of them */
               RF_NEED_EVERYONE_BY_LAUNCHER, /* initialisation: all ranks the launcher was asked for */
               RF_NEED_UNKNOWN               /* nothing is ever proven over such a call */
};

enum rf_op {
#define RF_OP(id, text, need) RF_OP_##id,
#include "ops.def"
#undef RF_OP
  RF_OP_COUNT
};

/* Moves data among all members of a communicator, or is a barrier. */
static inline int rf_is_collective(uint16_t op) {
  return (op >= RF_OP_ALL_REDUCE && op <= RF_OP_NEIGHBOR) ||
         (op >= RF_OP_NEIGHBOR_ALL_GATHER && op <= RF_OP_NEIGHBOR_ALL_TO_ALLW);
}

/* Waits for requests: of the same library, or (stream_wait) operations on streams. */
static inline int rf_is_wait(uint16_t op) {
  return op == RF_OP_WAIT || op == RF_OP_WAIT_ANY || op == RF_OP_STREAM_WAIT;
}

/* May stand inside another call, whose state the lane then keeps: only the history tells of them. */
static inline int rf_is_inner(uint16_t op) {
  return (op >= RF_OP_FILE_OPEN && op <= RF_OP_SHM_UNLINK) || op == RF_OP_FILE_ALLOCATE ||
         (op >= RF_OP_DEVICE_ALLOC && op <= RF_OP_DEVICE_QUERY);
}

enum rf_host_wait {
#define RF_HOST_WAIT(id, text) RF_HOST_WAIT_##id,
#include "host_waits.def"
#undef RF_HOST_WAIT
  RF_HOST_WAIT_COUNT
};

enum rf_dtype {
#define RF_DTYPE(id, text, bytes) RF_DTYPE_##id,
#include "dtypes.def"
#undef RF_DTYPE
  RF_DTYPE_COUNT
};

enum rf_reduce_op { /* of a reduction; OTHER is a user-defined or unreadable one */
                    RF_REDUCE_OTHER,
                    RF_REDUCE_SUM,
                    RF_REDUCE_PROD,
                    RF_REDUCE_MIN,
                    RF_REDUCE_MAX,
                    RF_REDUCE_AVG,
                    RF_REDUCE_LAND,
                    RF_REDUCE_LOR,
                    RF_REDUCE_BAND,
                    RF_REDUCE_BOR,
                    RF_REDUCE_BXOR
};

enum rf_library { /* who was called; also the layer of a record */
                  RF_LIB_NONE,
                  RF_LIB_MPI,
                  RF_LIB_NCCL,
                  RF_LIB_GLOO, /* plain Gloo: the call; under PyTorch: its execution */
                  RF_LIB_C10D, /* PyTorch's ProcessGroup: what the user wrote */
                  RF_LIB_LIBC,
                  RF_LIB_CUDA,
                  RF_LIB_MARK
};

enum rf_hook { RF_HOOK_NONE, RF_HOOK_PRELOAD, RF_HOOK_SHIM, RF_HOOK_LINKED };

enum rf_phase {
  RF_PHASE_NONE,
  RF_PHASE_ENTER,    /* inside the call */
  RF_PHASE_EXIT,     /* returned; result 0 is success, else the library's own code */
  RF_PHASE_ENQUEUE,  /* a nonblocking or stream call returned: its work is pending */
  RF_PHASE_COMPLETE, /* that work was seen complete; `where` is RF_ORIGIN(lane, call) of its enter */
  RF_PHASE_ERROR,    /* left by an exception, cancellation, or an error of pending work */
  RF_PHASE_DETAIL,   /* more of the call before it: peer, count, tag; of a wait: `where` is RF_ORIGIN of a
                        request */
  RF_PHASE_EVENT     /* a mark: no duration */
};
#define RF_ORIGIN(lane, call) (((uint64_t)(lane) << 32) | (uint32_t)(call))
#define RF_TAG_OF_ID(id) ((int32_t)((id)&0x7fffffffu)) /* what a tag holds of a 64-bit id */
enum rf_call_flags {
  RF_CALL_NONBLOCKING = 1u << 0,
  RF_CALL_PERSISTENT = 1u << 1,
  RF_CALL_IN_PLACE = 1u << 2,
  RF_CALL_RENDEZVOUS = 1u << 3,  /* a send that cannot return before its receive was entered */
  RF_CALL_OWN_SHARE_0 = 1u << 4, /* this rank gets 0 bytes of the result */
  RF_CALL_ANY_SOURCE = 1u << 5,
  RF_CALL_ANY_TAG = 1u << 6,
  RF_CALL_MASK_VALID = 1u << 7, /* needs_mask lists exactly who owes this rank bytes */
  RF_CALL_COUNT_UNKNOWN = 1u << 8,
  RF_CALL_EXECUTION = 1u << 9, /* not what the user wrote but how the library runs it; no trigger counts it */
  RF_CALL_RANK_LOCAL = 1u << 10, /* count may differ between ranks by design (v-forms) */
  RF_CALL_UNEQUAL = 1u << 11,    /* what the rank sends itself is not what it takes from itself */
  RF_CALL_BUFFERED = 1u << 15    /* a send that completes whether or not it is received (MPI_Bsend) */
};

enum rf_taken { /* MPI: the tag of a call that takes shares of others: its dtype is what it sends; 0: not
                   known */
                RF_TAKEN_DTYPE = 0xff, /* mask: rf_dtype of what it receives */
                RF_TAKEN_KNOWN = 1u << 8,
                RF_SENDS_TO_EACH = 1u << 9,   /* of an all_to_allv: more than 0 bytes to every other member */
                RF_TAKES_FROM_EACH = 1u << 10 /* more than 0 bytes from every other member */
};

/* ---- history: one ring per lane, single writer --------------------------------------------- */

struct rf_record { /* 64 bytes */
  uint64_t commit; /* index in the lane + 1; stored last, with release. Anything else: torn */
  uint64_t time_ns;
  uint64_t seq;          /* what the library matches on: see rf_comm */
  uint64_t where;        /* ENTER: raw return address; COMPLETE: RF_ORIGIN of its enter; VALUE: the value */
  uint64_t count;        /* elements; bytes are count * size of dtype. Marks: the step or number */
  uint32_t call;         /* number of the call on this lane; the same in all its records */
  uint32_t comm;         /* number of the communicator (rf_comm.number); RF_NO_COMM */
  int32_t peer;          /* root or peer as a rank of comm; RF_PEER_* */
  int32_t tag_or_result; /* ENTER: tag; EXIT, ERROR: the result; marks: offset of the name */
  uint16_t op;
  uint8_t phase;
  uint8_t library;
  uint8_t dtype;
  uint8_t reduce_op;
  uint16_t flags; /* rf_call_flags */
};
#define RF_NO_COMM 0xffffffffu
#define RF_PEER_NONE (-1)
#define RF_PEER_ANY (-2)
#define RF_PEER_NULL (-3)              /* MPI_PROC_NULL */
#define RF_RESULT_THROWN (-0x7f000001) /* left by an exception or by unwinding */
/* ---- state page: where is every lane now ---------------------------------------------------- */

enum rf_lane_where {
  RF_OUTSIDE,    /* runs the workload's own code, or is parked by us: the two look alike by design */
  RF_INSIDE,     /* inside the outermost library call described by the state */
  RF_TIMED_WAIT, /* in an interposed timed wait or sleep (virtual time) */
  RF_ENDED       /* the thread is gone */
};

struct rf_state {    /* 128 bytes; one of the two slots of a lane is whole at any instant */
  uint64_t since_ns; /* entered at; rf_after_leaving() gives the time of the exit */
  uint64_t seq;
  uint64_t return_address;
  uint64_t count;
  uint64_t needs_mask; /* with RF_CALL_MASK_VALID: bit r = rank r of comm owes this rank bytes (size <= 64) */
  uint64_t deadline_ns; /* of a timed wait, or the call's own timeout when known; 0: none known */
  uint64_t pending[2];  /* WAIT, STREAM_WAIT: the first requests waited for, as RF_ORIGIN; 0: none */
  uint32_t pending_count;
  uint32_t call;
  uint32_t comm;
  int32_t peer;
  int32_t tag;
  uint32_t version; /* grows with each write of this lane's slots */
  uint16_t op;
  uint8_t where; /* rf_lane_where */
  uint8_t library;
  uint8_t dtype;
  uint8_t reduce_op;
  uint16_t flags;
  int32_t last_result; /* of the call that was left, when outside */
  int32_t recv_peer;   /* sendrecv: the source; else RF_PEER_NONE */
  uint64_t reserved[3];
};

enum rf_lane_kind { RF_LANE_FREE, RF_LANE_THREAD, RF_LANE_STREAM };

struct rf_lane {     /* 384 bytes */
  uint32_t kind;     /* rf_lane_kind; claimed by compare-and-swap from FREE */
  uint32_t selector; /* 0 or 1: which slot is whole. Writer fills the other, then stores this */
  uint64_t owner;    /* thread id, or stream handle */
  uint64_t head;     /* records claimed so far on this lane; never wraps */
  uint64_t dropped;  /* records that could not be written (no memory for the lane) */
  uint64_t mapped;   /* 1 once this lane's history exists in the file */
  uint64_t claims;   /* how often this lane was claimed by a new owner */
  /* The call that was left last, when, and with which result; left_call is stored last. The slot is not
   * written again at the exit. If it says INSIDE and its `call` is left_call, the thread has left that call.
   */
  uint64_t left_ns;
  uint32_t left_call;
  int32_t left_result;
  struct rf_state slot[2];
  uint64_t polled_ns; /* when it last asked, without a wait, for what had not come; 0: never */
  uint64_t reserved[7];
};

/* Gives `inside`, the state of the call `left_call`, as it is after that call. */
static inline struct rf_state rf_after_leaving(struct rf_state inside, uint64_t left_ns,
                                               int32_t left_result) {
  inside.where = RF_OUTSIDE;
  inside.since_ns = left_ns;
  inside.last_result = left_result;
  return inside;
}
/* The state of a lane that nobody writes. */
static inline struct rf_state rf_state_of(const struct rf_lane* lane) {
  const struct rf_state* s = &lane->slot[lane->selector & 1];
  return s->where == RF_INSIDE && s->call == lane->left_call
             ? rf_after_leaving(*s, lane->left_ns, lane->left_result)
             : *s;
}

#include "comm_abi.h"

/* ---- header --------------------------------------------------------------------------------- */

enum rf_stage { RF_STAGE_STRANGER, RF_STAGE_CANDIDATE, RF_STAGE_MEMBER, RF_STAGE_FINALIZED };

enum { /* rf_header.partial: why this record is not the whole truth */
       RF_PARTIAL_LANES = 1u << 0,
       RF_PARTIAL_COMMS = 1u << 1, /* more communicators lived at the same time than have room */
       RF_PARTIAL_NAMES = 1u << 2,
       RF_PARTIAL_MEMBERS = 1u << 3,
       RF_PARTIAL_HISTORY = 1u << 4, /* disk refused a lane */
       RF_PARTIAL_PARK = 1u << 5     /* a park passed its bound */
};
enum { /* rf_header.opaque: calls seen that no decoder understands */
       RF_OPAQUE_COMMUNICATION = 1u << 0,
       RF_OPAQUE_RMA = 1u << 1,
       RF_OPAQUE_IO = 1u << 2,
       RF_OPAQUE_OTHER = 1u << 3,
       RF_OPAQUE_NESTED = 1u << 4 /* calls of callbacks have no record: positions are not known */
};

enum rf_own_exit { RF_NOT_EXITED, RF_EXIT_ON_EXIT, RF_EXIT_QUICK, RF_EXIT_UNDERSCORE };

struct rf_coverage { /* 64 bytes, one per library seen in the process */
  uint8_t library;
  uint8_t hook; /* rf_hook */
  uint8_t pad[2];
  uint32_t version; /* the library's own, 10000 * major + 100 * minor + patch; 0 unknown */
  char decoder[24]; /* "gloo_2022", "openmpi" ... */
  char reason[32];  /* why hook is NONE */
};

#define RF_OUTPUT_BYTES 512u

struct rf_header { /* 4096 bytes */
  uint64_t magic;
  uint32_t abi_version;
  uint32_t header_bytes;
  uint64_t host_id; /* of the boot: hash of /proc/sys/kernel/random/boot_id */
  uint64_t pid_ns;  /* inode of /proc/self/ns/pid */
  int32_t pid;
  int32_t image;       /* counts execs, from 0 */
  uint64_t start_time; /* field 22 of /proc/PID/stat, clock ticks since boot */
  uint64_t opened_ns;  /* CLOCK_MONOTONIC */
  uint64_t opened_realtime_ns;
  uint32_t stage;     /* rf_stage */
  int32_t rank;       /* claimed; -1 */
  int32_t world_size; /* claimed; -1 */
  int32_t local_rank;
  int32_t attempt;
  uint32_t generation; /* grows when the process announces a rank anew */
  uint32_t partial;
  uint32_t opaque;
  uint32_t comms_used;
  uint32_t names_used;
  uint32_t members_used;
  uint32_t lanes_used;          /* highest lane ever claimed + 1 */
  uint32_t modules_version;     /* grows with each library loaded that we noticed */
  uint32_t thread_multiple;     /* 1: MPI_THREAD_MULTIPLE, or a library that allows any thread (Gloo) */
  uint64_t last_step_begun;     /* step + 1; 0 none */
  uint64_t last_step_committed; /* step + 1; 0 none */
  uint32_t own_exit;            /* rf_own_exit; stored last */
  int32_t own_exit_status;
  uint64_t own_exit_ns;
  uint64_t member_ns; /* when it became a member; 0 */
  /* Pids of its parent, that one's parent and so on, when it became a member; 0 ends them. */
  int32_t ancestors[RF_MAX_ANCESTORS];
  uint32_t spawned;    /* 1: its world was started by ranks of another (MPI_Comm_spawn) */
  uint32_t polled;     /* 1: it polled. Which calls it made may depend on when messages came */
  uint64_t clock_word; /* virtual time: offset added to this process's clocks */
  /* Ids of threads that MPI's initialisation made, as far as it is certain that MPI made them; 0 ends them.
   */
  uint32_t own_threads[RF_MAX_OWN_THREADS];
  char env_rank_source[32];     /* the variable the candidate's rank came from */
  char output[RF_OUTPUT_BYTES]; /* the file that its standard output was at the opening; else empty */
  struct rf_coverage coverage[RF_MAX_LIBRARIES];
  /* A robust pthread_mutex_t. The thread that opened the record holds it until it ends; its first word is a
   * futex: see death_notice.c. 0: none, as in records made before the field was added. */
  uint64_t life[8];
};

/* Offsets in a flight record. History lanes are made one at a time, at their first call. */
#define RF_HEADER_BYTES 4096u
#define RF_OFF_LANES RF_HEADER_BYTES
#define RF_LANES_BYTES 28672u /* 65 * 384, rounded up to a page */
#define RF_OFF_COMMS (RF_OFF_LANES + RF_LANES_BYTES)
#define RF_COMMS_BYTES (RF_MAX_COMMS * 192u)
#define RF_OFF_NAMES (RF_OFF_COMMS + RF_COMMS_BYTES)
#define RF_OFF_MEMBERS (RF_OFF_NAMES + RF_NAME_BYTES)
#define RF_OFF_HISTORY (RF_OFF_MEMBERS + RF_MAX_MEMBERS * 4u)
#define RF_LANE_HISTORY_BYTES (RF_LANE_RECORDS * 64u)
#define RF_LANE_HISTORY_OFFSET(lane) (RF_OFF_HISTORY + (uint64_t)(lane)*RF_LANE_HISTORY_BYTES)

/* FNV-1a, 64 bit; never 0. Names are compared by it across processes. */
static inline uint64_t rf_hash_bytes(uint64_t seed, const void* data, uint64_t bytes) {
  const unsigned char* p = (const unsigned char*)data;
  uint64_t h = seed ? seed : 0xcbf29ce484222325ull;
  for (uint64_t i = 0; i < bytes; ++i) h = (h ^ p[i]) * 0x100000001b3ull;
  return h ? h : 1;
}
static inline uint64_t rf_hash_text(const char* text) {
  uint64_t n = 0;
  while (text[n]) ++n;
  return rf_hash_bytes(0, text, n);
}

#ifdef __cplusplus
#define RF_STATIC_ASSERT(c, m) static_assert(c, m)
#else
#define RF_STATIC_ASSERT(c, m) _Static_assert(c, m)
#endif
RF_STATIC_ASSERT(sizeof(struct rf_record) == 64, "record");
RF_STATIC_ASSERT(sizeof(struct rf_state) == 128, "state");
RF_STATIC_ASSERT(sizeof(struct rf_lane) == 384, "lane");
RF_STATIC_ASSERT(offsetof(struct rf_lane, slot) == 64, "a slot begins a cache line");
RF_STATIC_ASSERT(sizeof(struct rf_comm) == 192, "comm");
RF_STATIC_ASSERT(sizeof(struct rf_coverage) == 64, "coverage");
RF_STATIC_ASSERT(sizeof(struct rf_header) <= RF_HEADER_BYTES, "header");
RF_STATIC_ASSERT(65u * sizeof(struct rf_lane) <= RF_LANES_BYTES, "lanes");

#include "control_abi.h"

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* RANKFAULT_AGENT_ABI_H */
