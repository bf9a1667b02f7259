/* agent_abi.h: the header that harness and agent share. It defines the bytes of a flight record; comm_abi.h
 * defines those of its communicators, and control_abi.h those of action records and the control page.
 *
 * Another process may read this data at any instant, also after SIGKILL of the writer. So all fields have a
 * fixed width, and no pointer has a meaning outside its process. A state is whole if its selector names it
 * (left_call says whether the thread has left that call). A record is whole if its commit word says so. A
 * counter is one word.
 *
 * C11 and C++20 both include this file. Words written by one process and read by another are plain
 * fixed-width fields here; both sides access them only with the RF_LOAD and RF_STORE macros below (acquire
 * and release), never directly. Times are CLOCK_MONOTONIC nanoseconds; ranks are int32_t, or -1.
 *
 * Records of libc points have no communicator: `seq` is the offset of the path in the names, and the result
 * of their EXIT is the errno. The EXIT of a file_open (with rf_open_flags), and of an shm_create that
 * certainly created the file, has the file's inode in `count` and its birth (CLOCK_REALTIME, ns; 0: not kept)
 * in `where`, else 0. Records of marks have phase EVENT, the name's offset in `tag_or_result`, the step or
 * number in `count` and, for VALUE, the 64-bit value in `where`. Records of device_alloc, device_launch and
 * device_query have the caller and the callee ("nccl:cudaMalloc") where a libc point has its path. A
 * stream_wait has the rf_host_wait as its tag; its requests are the operations of other libraries that it
 * waits for. An operation of NCCL has a number of its stream as tag, or 0. A comm_create by a unique id has
 * its size as count, the caller's rank in it as peer and RF_TAG_OF_ID of it as tag; of PyTorch: the group's
 * number, or 0. A nonblocking collective of MPI whose members owe different counts has a DETAIL whose `where`
 * is its needs_mask. A collective in which ranks take shares of others has rf_taken as its tag.
 *
 * A change of any layout or number below changes RF_ABI_VERSION. A reader refuses other versions. */
#ifndef RANKFAULT_AGENT_ABI_H
#define RANKFAULT_AGENT_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RF_ABI_VERSION 8u                      /* 8: an action may name a library */
#define RF_RING_MAGIC 0x676e697246524b4eull    /* flight record */
#define RF_ACTIONS_MAGIC 0x74636146524b4e00ull /* action record */
#define RF_CONTROL_MAGIC 0x6c7274436652b4e0ull /* control page */

#define RF_LOAD(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define RF_STORE(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)

/* Capacities. If something does not fit, the agent sets RF_PARTIAL_*: nothing on that process is proven. */
#define RF_MAX_LANES 64u      /* plus one overflow lane, index RF_MAX_LANES */
#define RF_LANE_RECORDS 4096u /* a power of two */
#define RF_MAX_COMMS 256u     /* alive at the same time */
#define RF_MAX_ANCESTORS 8u
#define RF_MAX_OWN_THREADS 8u
#define RF_MAX_LIBRARIES 8u
#define RF_NAME_BYTES 16384u
#define RF_MAX_MEMBERS 16384u
#define RF_MAX_ACTION_RECORDS 2048u
#define RF_MAX_ARMED 256u
#define RF_MAX_GATE_SLOTS 256u
#define RF_PATH_BYTES 256u

enum rf_need { /* the class of an op's needs: docs/internals/diagnosis-waits.md; NOBODY if 0 bytes move */
               RF_NEED_NOBODY,
               RF_NEED_EVERYONE,         /* every member */
               RF_NEED_EVERYONE_IF_ROOT, /* every member if this rank is the root, else no rank */
               RF_NEED_ROOT_UNLESS_ROOT, /* the root if this rank is another one */
               RF_NEED_OWED,             /* members that owe this rank more than 0 bytes */
               RF_NEED_OWED_IF_ROOT,     /* the same, at the root only */
               RF_NEED_OWED_REDUCED,     /* every member if this rank's own share is more than 0 bytes */
               RF_NEED_LOWER_RANKS,
               RF_NEED_PEER,
               RF_NEED_BY_MODE,     /* a send: the matching receive if RF_CALL_RENDEZVOUS, else no rank */
               RF_NEED_REQUESTS,    /* all requests of the call */
               RF_NEED_ANY_REQUEST, /* one of them */
               RF_NEED_EVERYONE_BY_LAUNCHER, /* initialisation: all ranks that the launcher was asked for */
               RF_NEED_UNKNOWN               /* nothing is proven with such a call */
};

enum rf_op {
#define RF_OP(id, text, need) RF_OP_##id,
#include "ops.def"
#undef RF_OP
  RF_OP_COUNT
};

/* The operation moves data among all members of a communicator, or is a barrier. */
static inline int rf_is_collective(uint16_t op) {
  return (op >= RF_OP_ALL_REDUCE && op <= RF_OP_NEIGHBOR) ||
         (op >= RF_OP_NEIGHBOR_ALL_GATHER && op <= RF_OP_NEIGHBOR_ALL_TO_ALLW);
}

/* The operation waits for requests: of the same library, or (stream_wait) for operations on streams. */
static inline int rf_is_wait(uint16_t op) {
  return op == RF_OP_WAIT || op == RF_OP_WAIT_ANY || op == RF_OP_STREAM_WAIT;
}

/* The call may be inside another call. The lane then keeps the state of the outer call, and only the history
 * has the inner one. */
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

enum rf_reduce_op { /* of a reduction; OTHER is user-defined or unreadable */
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

enum rf_library { /* the called library; also the layer of a record */
                  RF_LIB_NONE,
                  RF_LIB_MPI,
                  RF_LIB_NCCL,
                  RF_LIB_GLOO, /* plain Gloo: the call; under PyTorch: its execution */
                  RF_LIB_C10D, /* PyTorch's ProcessGroup: the call that the user wrote */
                  RF_LIB_LIBC,
                  RF_LIB_CUDA,
                  RF_LIB_MARK,
                  RF_LIB_COUNT
};

enum rf_hook { RF_HOOK_NONE, RF_HOOK_PRELOAD, RF_HOOK_SHIM, RF_HOOK_LINKED };

enum rf_phase {
  RF_PHASE_NONE,
  RF_PHASE_ENTER,    /* inside the call */
  RF_PHASE_EXIT,     /* returned; result 0 is success, else the library's own code */
  RF_PHASE_ENQUEUE,  /* a nonblocking or stream call returned: its work is pending */
  RF_PHASE_COMPLETE, /* that work was seen complete; `where` is RF_ORIGIN(lane, call) of its enter */
  RF_PHASE_ERROR,    /* left by an exception, cancellation, or an error of pending work */
  RF_PHASE_DETAIL,   /* more about the previous call: peer, count, tag; for a wait: `where` is RF_ORIGIN of a
                        request */
  RF_PHASE_EVENT     /* a mark: no duration */
};
#define RF_ORIGIN(lane, call) (((uint64_t)(lane) << 32) | (uint32_t)(call))
#define RF_TAG_OF_ID(id) ((int32_t)((id)&0x7fffffffu)) /* the part of a 64-bit id that a tag holds */
enum rf_call_flags {
  RF_CALL_NONBLOCKING = 1u << 0,
  RF_CALL_PERSISTENT = 1u << 1,
  RF_CALL_IN_PLACE = 1u << 2,
  RF_CALL_RENDEZVOUS = 1u << 3,  /* a send that cannot return before its receive was entered */
  RF_CALL_OWN_SHARE_0 = 1u << 4, /* this rank gets 0 bytes of the result */
  RF_CALL_ANY_SOURCE = 1u << 5,
  RF_CALL_ANY_TAG = 1u << 6,
  RF_CALL_MASK_VALID = 1u << 7, /* needs_mask lists exactly the ranks that owe this rank bytes */
  RF_CALL_COUNT_UNKNOWN = 1u << 8,
  RF_CALL_EXECUTION = 1u << 9,   /* the library's execution of the call; triggers do not count it */
  RF_CALL_RANK_LOCAL = 1u << 10, /* count may differ between ranks by design (v-forms) */
  RF_CALL_UNEQUAL = 1u << 11,    /* the rank sends itself something else than it takes from itself */
  RF_CALL_NEW_PASS = 1u << 12,   /* c10d: the first all_reduce of a pass of autograd on its communicator */
  RF_CALL_BUFFERED = 1u << 15    /* a send that completes whether or not it is received (MPI_Bsend) */
};

enum rf_taken { /* MPI: tag of a call that takes shares of others; dtype is what it sends; 0: unknown */
                RF_TAKEN_DTYPE = 0xff, /* mask: rf_dtype of what it receives */
                RF_TAKEN_KNOWN = 1u << 8,
                RF_SENDS_TO_EACH = 1u << 9,   /* of an all_to_allv: more than 0 bytes to every other member */
                RF_TAKES_FROM_EACH = 1u << 10 /* more than 0 bytes from every other member */
};

/* ---- history: one ring per lane, single writer --------------------------------------------- */
struct rf_record { /* 64 bytes */
  uint64_t commit; /* index in the lane + 1; stored last, with release. Any other value: torn */
  uint64_t time_ns;
  uint64_t seq;          /* the number that the library matches by: see rf_comm */
  uint64_t where;        /* ENTER: return address or Python frames; COMPLETE: RF_ORIGIN; VALUE: the value */
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
/* ---- state page: the present place of every lane ------------------------------------------- */

enum rf_lane_where {
  RF_OUTSIDE,    /* runs the workload's own code, or is parked by the agent: the two look alike by design */
  RF_INSIDE,     /* inside the outermost library call described by the state */
  RF_TIMED_WAIT, /* in an interposed timed wait or sleep (virtual time) */
  RF_ENDED       /* the thread is gone */
};

struct rf_state {    /* 128 bytes; one of the two slots of a lane is whole at any instant */
  uint64_t since_ns; /* time of entry; rf_after_leaving() gives the time of the exit */
  uint64_t seq;
  uint64_t return_address; /* or Python frames */
  uint64_t count;
  uint64_t needs_mask; /* with RF_CALL_MASK_VALID: bit r = rank r of comm owes this rank bytes (size <= 64) */
  uint64_t deadline_ns; /* of a timed wait, or the call's own timeout if known; 0: none known */
  uint64_t pending[2];  /* WAIT, STREAM_WAIT: the first requests waited for, as RF_ORIGIN; 0: none */
  uint32_t pending_count;
  uint32_t call;
  uint32_t comm;
  int32_t peer;
  int32_t tag;
  uint32_t version; /* increases with each write of this lane's slots */
  uint16_t op;
  uint8_t where; /* rf_lane_where */
  uint8_t library;
  uint8_t dtype;
  uint8_t reduce_op;
  uint16_t flags;
  int32_t last_result; /* of the call that was left, if outside */
  int32_t recv_peer;   /* sendrecv: the source; else RF_PEER_NONE */
  uint64_t reserved[3];
};

enum rf_lane_kind { RF_LANE_FREE, RF_LANE_THREAD, RF_LANE_STREAM };

struct rf_lane {     /* 384 bytes */
  uint32_t kind;     /* rf_lane_kind; claimed by compare-and-swap from FREE */
  uint32_t selector; /* 0 or 1: which slot is whole. The writer fills the other slot, then stores this */
  uint64_t owner;    /* thread id, or stream handle */
  uint64_t head;     /* records claimed so far on this lane; never wraps */
  uint64_t dropped;  /* records that could not be written (no memory for the lane) */
  uint64_t mapped;   /* 1 once this lane's history exists in the file */
  uint64_t claims;   /* number of times that a new owner claimed this lane */
  /* The last call that the thread left, the time, and the result; left_call is stored last. The exit does
   * not write the slot again. If the slot says INSIDE and its `call` is left_call, the thread has left
   * that call. */
  uint64_t left_ns;
  uint32_t left_call;
  int32_t left_result;
  struct rf_state slot[2];
  uint64_t polled_ns; /* last poll without a wait that found nothing; 0: never */
  uint64_t reserved[7];
};

/* Returns the state of the call `left_call` after the thread left it; `inside` is the state before. */
static inline struct rf_state rf_after_leaving(struct rf_state inside, uint64_t left_ns,
                                               int32_t left_result) {
  inside.where = RF_OUTSIDE;
  inside.since_ns = left_ns;
  inside.last_result = left_result;
  return inside;
}
/* Returns the state of a lane that no thread writes. */
static inline struct rf_state rf_state_of(const struct rf_lane* lane) {
  const struct rf_state* s = &lane->slot[lane->selector & 1];
  return s->where == RF_INSIDE && s->call == lane->left_call
             ? rf_after_leaving(*s, lane->left_ns, lane->left_result)
             : *s;
}

#include "comm_abi.h"

/* ---- header --------------------------------------------------------------------------------- */
enum rf_stage { RF_STAGE_STRANGER, RF_STAGE_CANDIDATE, RF_STAGE_MEMBER, RF_STAGE_FINALIZED };

enum { /* rf_header.partial: why this record is incomplete */
       RF_PARTIAL_LANES = 1u << 0,
       RF_PARTIAL_COMMS = 1u << 1, /* more live communicators than there is room for */
       RF_PARTIAL_NAMES = 1u << 2,
       RF_PARTIAL_MEMBERS = 1u << 3,
       RF_PARTIAL_HISTORY = 1u << 4, /* the disk refused a lane */
       RF_PARTIAL_PARK = 1u << 5     /* a park passed its bound */
};
enum { /* rf_header.opaque: kinds of calls that no decoder understands */
       RF_OPAQUE_COMMUNICATION = 1u << 0,
       RF_OPAQUE_RMA = 1u << 1,
       RF_OPAQUE_IO = 1u << 2,
       RF_OPAQUE_OTHER = 1u << 3,
       RF_OPAQUE_NESTED = 1u << 4 /* calls of callbacks have no record: positions are unknown */
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
  uint32_t generation; /* increases when the process announces a new rank */
  uint32_t partial;
  uint32_t opaque;
  uint32_t comms_used;
  uint32_t names_used;
  uint32_t members_used;
  uint32_t lanes_used;          /* highest lane ever claimed + 1 */
  uint32_t modules_version;     /* increases with each loaded library that the agent noticed */
  uint32_t thread_multiple;     /* 1: MPI_THREAD_MULTIPLE, or a library that allows any thread (Gloo) */
  uint64_t last_step_begun;     /* step + 1; 0 none */
  uint64_t last_step_committed; /* step + 1; 0 none */
  uint32_t own_exit;            /* rf_own_exit; stored last */
  int32_t own_exit_status;
  uint64_t own_exit_ns;
  uint64_t member_ns; /* when it became a member; 0 */
  /* Pids of its parent, its parent's parent and so on, taken when it became a member; 0 ends the list. */
  int32_t ancestors[RF_MAX_ANCESTORS];
  uint32_t spawned;    /* 1: ranks of another world started its world (MPI_Comm_spawn) */
  uint32_t polled;     /* 1: it polled. Its calls may depend on when messages came */
  uint64_t clock_word; /* virtual time: offset added to this process's clocks */
  /* Ids of threads that MPI's initialisation certainly created; 0 ends the list. */
  uint32_t own_threads[RF_MAX_OWN_THREADS];
  char env_rank_source[32];     /* the variable that the candidate's rank came from */
  char output[RF_OUTPUT_BYTES]; /* the file of its standard output at the opening; else empty */
  struct rf_coverage coverage[RF_MAX_LIBRARIES];
  /* A robust pthread_mutex_t. The thread that opened the record holds it until it ends; its first word is a
   * futex: see death_notice.c. 0: none, as in records from before the field was added. */
  uint64_t life[8];
  uint32_t python_minor; /* of its Python 3; 0: none, or another version */
  uint32_t python_off;   /* rf_python_off */
};

/* Offsets in a flight record. The history of a lane is created at the lane's first call. */
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
#include "python_abi.h"

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* RANKFAULT_AGENT_ABI_H */
