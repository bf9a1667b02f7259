/* decoder.h: what the files of the MPI decoders share: the core, the library's own functions and handles, and
 * the common form of every wrapper.
 *
 * The sources are compiled once for each binary interface; RF_MPI_ABI is its header: openmpi_abi.h,
 * mpich_abi.h, standard_abi.h. The .c file with the same name finds everything that is not a number. */
#ifndef RANKFAULT_MPI_DECODER_H
#define RANKFAULT_MPI_DECODER_H

#include "harness/agent/core.h"
#include RF_MPI_ABI

extern const struct rf_core_v1* rf_core;

/* No library uses this value as a handle. */
#define RF_NO_HANDLE 0

/* The library of this process. The functions are PMPI_*, so these queries are never recorded. */
struct mpi_library {
  MPI_Comm world, self, comm_null;
  MPI_Datatype datatype_null;
  MPI_Request request_null;
  MPI_Message message_no_proc;
  int (*initialized)(int*);
  int (*query_thread)(int*);
  int (*comm_rank)(MPI_Comm, int*);
  int (*comm_size)(MPI_Comm, int*);
  int (*comm_group)(MPI_Comm, MPI_Group*);
  int (*comm_remote_group)(MPI_Comm, MPI_Group*);
  int (*comm_get_parent)(MPI_Comm*);
  int (*comm_test_inter)(MPI_Comm, int*);
  int (*comm_call_errhandler)(MPI_Comm, int);
  int (*group_size)(MPI_Group, int*);
  int (*group_free)(MPI_Group*);
  int (*group_translate_ranks)(MPI_Group, int, const int*, MPI_Group, int*);
  int (*type_size)(MPI_Datatype, int64_t*); /* MPI_Count: an int is limited to 2 GiB */
};
extern struct mpi_library rf_mpi;

/* life.c */
void rf_announce(void);
/* For an attribute created at `where`: its delete function runs inside a finalisation. */
void rf_note_delete_function(const void* where);
void rf_note_finalize(void);

/* library.c */
struct rf_wanted { /* a function of the library, and the place for its address */
  const char* symbol;
  void* slot;
};
int rf_library_load(const char** reason);
int rf_library_functions(const struct rf_wanted* wanted, size_t count, const char** missing);
void* rf_library_object(const char* symbol); /* data: the executable's copy if it has one; null */
const void* rf_library_object_once(const char* symbol, const void** known); /* looked up by the first call */
uint32_t rf_library_version(void); /* 10000 * major + 100 * minor + patch; 0: unknown version */

/* openmpi.c, mpich.c or standard.c: what the numbers of the binary interface do not define */
int rf_abi_load(const char** reason);      /* the predefined handles */
uint32_t rf_abi_version(const char* text); /* from the text of MPI_Get_library_version; 0: unknown */
int rf_abi_hides_errors(void);             /* a refused call may return success (error_handlers.c) */
uint64_t rf_abi_job(void);                 /* equal on all ranks of the job, different for every other job */
MPI_Datatype rf_abi_type(rf_predefined known); /* RF_NO_HANDLE: the library has none */
MPI_Op rf_abi_op(rf_predefined known);
int rf_request_is_over(MPI_Request handle); /* null, or complete by its handle alone: many calls share it */
MPI_Request rf_request_that_is_over(void);  /* complete and active, with an empty status, as MPI_PROC_NULL */

/* types.c. Arguments that a library would refuse count as moving no data. */
struct rf_elements {
  uint64_t count;
  uint8_t dtype;
};
void rf_types_load(void);                                         /* after the library's initialisation */
struct rf_elements rf_elements(int64_t count, MPI_Datatype type); /* OTHER counts bytes */
uint64_t rf_bytes(int64_t count, MPI_Datatype type);              /* 0 exactly if no data moves */
/* Whether the sent data has another size or type than the data taken for it. */
int rf_is_unequal(int64_t sent, MPI_Datatype st, int64_t taken, MPI_Datatype tt);
uint8_t rf_reduce_op(MPI_Op op);
MPI_Datatype rf_type_handle(uint8_t dtype); /* RF_NO_HANDLE if there is none */
MPI_Op rf_op_handle(uint8_t reduce_op);

/* identity.c: identity without messages */
uint32_t rf_comm_index(MPI_Comm comm);
void rf_world_made(void); /* idempotent; after the library's own initialisation */
void rf_comm_made(MPI_Comm made, uint32_t parent, uint64_t parent_seq);
void rf_comm_made_by_tag(MPI_Comm made, uint32_t parent, int tag);
void rf_world_released(void);
uint32_t rf_stream_made(MPI_Request request, uint32_t parent, uint64_t parent_seq);

/* message_shapes.c */
int32_t rf_peer_of(int rank);
void rf_message(struct rf_call* call, uint16_t op, int64_t count, MPI_Datatype type, int peer, int tag,
                MPI_Comm comm, const void* where);
void rf_both_ways(struct rf_call* call, int64_t n, MPI_Datatype t, int dest, int stag, int source, int rtag,
                  MPI_Comm c, const void* where);                                  /* MPI_Sendrecv */
int rf_empty_if_skipped(const struct rf_call* call, struct rf_mpi_status* status); /* returns 0 */

void rf_comm_is_over(uint32_t comm);        /* communicators.c */
void* rf_seen_handler(void* function);      /* error_handlers.c: the function to give to the library */
extern int rf_own_handlers;                 /* error_handlers.c: the program has some */
int rf_neighbors_load(const char** reason); /* neighbors.c */

/* requests.c: the call of each request; a fixed table without locks */
struct rf_request {
  uint64_t handle; /* RF_HANDLE_BITS, the key; 0: free */
  uint64_t stamp;  /* increases with each entry: of two with one handle the newer counts */
  uint64_t origin; /* RF_ORIGIN of the enter record; 0: persistent and inactive */
  uint64_t seq;
  uint32_t comm;        /* of a persistent collective: the order of its own starts */
  uint32_t prepared_on; /* persistent: the program's communicator */
  uint32_t persistent;
  MPI_Comm* new_comm;         /* Comm_idup: the library fills it when the request completes */
  const int* new_comm_number; /* the same from Fortran */
  struct rf_call start;       /* persistent: the call that each start makes */
};
struct rf_request* rf_request_track(MPI_Request handle, const struct rf_call* call);
struct rf_request* rf_request_find(MPI_Request handle);
void rf_request_done(struct rf_request* request, int result); /* writes COMPLETE; null is allowed */
void rf_request_forget(struct rf_request* request);
int rf_request_prepared_on(uint32_t comm); /* whether a persistent request exists on that communicator */

uint64_t rf_place_of(const struct rf_call* call); /* in the communicator's order; messages have none: 0 */

/* persistent.c: after an X_init; tracks the new request, which starts `call` */
int rf_prepared(struct rf_call* making, const struct rf_call* call, enum rf_verdict verdict,
                MPI_Request* request, int rc);

int rf_prepared_message(int rc, MPI_Request request, const struct rf_call* call); /* returns rc */
int rf_can_start(MPI_Request request); /* it is known, persistent and inactive */
int rf_started(struct rf_request* entry, struct rf_call* call, enum rf_verdict verdict,
               int rc); /* ends `call` */

/* fortran_binding.c: the object with the library's Fortran functions, and Fortran's handles */
extern struct rf_binding {
  uintptr_t begin;
  size_t bytes; /* 0: none found */
} rf_binding;
int rf_fortran_load(const char** reason);
/* The module of the called name: mpif.h and use mpi; use mpi_f08; use mpi_f08 with buffers as descriptors. */
enum rf_fortran_module { RF_MPI_H, RF_MPI_F08, RF_MPI_F08TS };
/* openmpi.c, mpich.c. Returns true also if it is unknown: then nothing is compared. */
int rf_abi_fortran_in_place(const void* buffer, int module);
int rf_abi_fortran_first_index(int module); /* of a request in the result of a wait */
#ifdef RF_MPI_FROM_NUMBER
extern MPI_Comm (*rf_comm_f2c)(int);
extern MPI_Datatype (*rf_type_f2c)(int);
extern MPI_Op (*rf_op_f2c)(int);
extern MPI_Request (*rf_request_f2c)(int);
extern int (*rf_comm_c2f)(MPI_Comm);
extern int (*rf_type_c2f)(MPI_Datatype);
extern int (*rf_op_c2f)(MPI_Op);
extern int (*rf_message_c2f)(MPI_Message);
extern int (*rf_request_c2f)(MPI_Request);
#else /* handles are numbers in C, too */
static inline MPI_Comm rf_comm_f2c(int number) { return number; }
static inline MPI_Datatype rf_type_f2c(int number) { return number; }
static inline MPI_Op rf_op_f2c(int number) { return number; }
static inline MPI_Request rf_request_f2c(int number) { return number; }
static inline int rf_comm_c2f(MPI_Comm handle) { return handle; }
static inline int rf_type_c2f(MPI_Datatype handle) { return handle; }
static inline int rf_op_c2f(MPI_Op handle) { return handle; }
static inline int rf_message_c2f(MPI_Message handle) { return handle; }
static inline int rf_request_c2f(MPI_Request handle) { return handle; }
#endif

/* wrapper.c */
int rf_is_again(const void* where);
int rf_not_made(struct rf_call* call, MPI_Comm comm, enum rf_verdict verdict);
/* Except the count (counts.h). */
void rf_apply_other_change(const struct rf_call* call, MPI_Datatype* type, int* root, MPI_Op* op);
int rf_enqueued(struct rf_call* call, MPI_Comm comm, enum rf_verdict verdict, MPI_Request* request, int rc);

struct rf_unwind_guard {
  struct rf_call* call;
};
static inline void rf_close_on_unwind(struct rf_unwind_guard* guard) {
  if (guard->call) rf_core->end(guard->call, RF_RESULT_THROWN);
}

/* Also if a callback leaves by an exception. */
static inline void rf_end_of_nest(const int* by) { rf_core->nest(-*by); }

#define WHERE __builtin_return_address(0)
#define NEXT(name) ((__typeof__(&wrap_##name))next_##name)

static inline int rf_from_binding(const void* where) {
  return (uintptr_t)where - rf_binding.begin < rf_binding.bytes;
}

/* Reads the arguments before any of them is decoded. It fills `call` in place: a copy of a structure whose
 * fields were just written one by one must wait for all these writes. */
static inline void rf_call_on(struct rf_call* call, uint16_t op, MPI_Comm comm, const void* where) {
  *call = (struct rf_call){
      .op = op, .library = RF_LIB_MPI, .peer = RF_PEER_NONE, .recv_peer = RF_PEER_NONE, .where = where};
  call->comm = rf_comm_index(comm);
}

/* Returns the real result of this thread's call, which returned `rc` (error_handlers.c). The program gets
 * `rc`. */
static inline int rf_outcome(int rc) {
  return rc == RF_MPI_SUCCESS && rf_own_handlers ? rf_core->handled_error() : rc;
}
/* begin() clears the error of the previous call. A function without begin() calls this instead. Inside a
 * call, for example in a handler, the error of that call stays. */
static inline void rf_forget_error(void) {
  if (rf_own_handlers && rf_core->in_call() == 0) rf_core->error_handled(RF_MPI_SUCCESS);
}

/* Gate and enter record, then the call itself unless an action replaces it, then the exit record. `forward`
 * is evaluated at most once; an exception may leave it. */
#define RF_RETURN_CALL(call_, communicator, forward)                                                    \
  do {                                                                                                  \
    const enum rf_verdict verdict_ = rf_core->begin(call_);                                             \
    struct rf_unwind_guard guard_ __attribute__((cleanup(rf_close_on_unwind))) = {call_};               \
    const int rc_ = verdict_ == RF_DO_FORWARD ? (forward) : rf_not_made(call_, communicator, verdict_); \
    guard_.call = NULL;                                                                                 \
    return rf_core->end(call_, rc_);                                                                    \
  } while (0)

/* The state lists the ranks that owe this rank bytes only while the call is open. If the call leaves work
 * pending, the history lists them. */
static inline void rf_tell_owed(struct rf_call* call) {
  if ((call->flags & RF_CALL_MASK_VALID) && (call->flags & RF_CALL_RANK_LOCAL))
    rf_core->detail(call, RF_PEER_NONE, 0, 0, call->needs_mask);
}

/* For a poll that returned `rc`: a poll that failed does not show that nothing has come. */
static inline int rf_polled(int rc, int found) {
  rf_core->polled(rf_outcome(rc) != RF_MPI_SUCCESS || found);
  return rc;
}

/* The same for a call that leaves work pending in `request`. */
#define RF_RETURN_ENQUEUED(call_, communicator, request, forward)                         \
  do {                                                                                    \
    (call_)->flags |= RF_CALL_NONBLOCKING;                                                \
    const enum rf_verdict verdict_ = rf_core->begin(call_);                               \
    struct rf_unwind_guard guard_ __attribute__((cleanup(rf_close_on_unwind))) = {call_}; \
    if (verdict_ == RF_DO_FORWARD) rf_tell_owed(call_);                                   \
    const int rc_ = verdict_ == RF_DO_FORWARD ? (forward) : 0;                            \
    guard_.call = NULL;                                                                   \
    return rf_enqueued(call_, communicator, verdict_, request, rc_);                      \
  } while (0)

/* The same for a call that only prepares `call_`: it takes its own place, whatever starts later. */
#define RF_RETURN_PREPARED(call_, communicator, request, forward)                                          \
  do {                                                                                                     \
    struct rf_call making_;                                                                                \
    rf_call_on(&making_, RF_OP_PERSISTENT_INIT, communicator, (call_)->where);                             \
    const enum rf_verdict verdict_ = rf_core->begin(&making_);                                             \
    struct rf_unwind_guard guard_ __attribute__((cleanup(rf_close_on_unwind))) = {&making_};               \
    const int rc_ = verdict_ == RF_DO_FORWARD ? (forward) : rf_not_made(&making_, communicator, verdict_); \
    guard_.call = NULL;                                                                                    \
    return rf_prepared(&making_, call_, verdict_, request, rc_);                                           \
  } while (0)

#define RF_WRAPPED(name) extern void* next_##name;
#include "wrapped.def"
#include "wrapped_fortran.def"
#undef RF_WRAPPED

static inline int rf_is_no_status(const struct rf_mpi_status* status) {
  return !status || status == RF_MPI_STATUS_IGNORE;
}

#endif /* RANKFAULT_MPI_DECODER_H */
