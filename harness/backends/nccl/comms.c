/* comms.c: NCCL communicators. Their identity comes from the unique id, or from the parent and the place of
 * the creating call on it. No message is sent for it. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/agent/lock.h"
#include "streams.h"

struct made {
  uint64_t id, parent, parent_seq;
  int rank, size;  /* -1 and 0 if the library must be asked */
  int device;      /* -1 unknown */
  int no_identity; /* its members cannot agree on a number without a message */
  int nonblocking; /* NCCL launches its operations later, from its own thread */
};

/* Handles that the library fills only at the end of the group in which they were requested. */
enum { kPending = 64 };
static struct {
  pthread_t thread;
  ncclComm_t *where, before;
  struct made how;
  int used;
} pending[kPending];
static struct rf_lock pending_guard;

static int16_t device_of[RF_MAX_COMMS]; /* index: the communicator's entry; + 1; 0 unknown */
static uint8_t launches_later[RF_MAX_COMMS];

int rf_comm_device(uint32_t comm) {
  return comm != RF_NO_COMM ? RF_LOAD(&device_of[RF_COMM_SLOT(comm)]) - 1 : -1;
}

int rf_comm_is_blocking(uint32_t comm) {
  return comm != RF_NO_COMM && !RF_LOAD(&launches_later[RF_COMM_SLOT(comm)]);
}

/* A configuration that leaves it open inherits the parent's setting. NCCL_COMM_BLOCKING overrides both (add).
 * NCCL reads its file of variables at its first initialisation, so the variable is read after that. */
static int is_nonblocking(const ncclConfig_t* config, uint32_t parent) {
  if (config && (config->blocking == 0 || config->blocking == 1)) return !config->blocking;
  return parent != RF_NO_COMM && !rf_comm_is_blocking(parent);
}

static int overridden(int nonblocking) {
  const char* const text = getenv("NCCL_COMM_BLOCKING");
  const long long value = text && *text ? strtoll(text, NULL, 0) : -1;
  return value == 0 || value == 1 ? !value : nonblocking;
}

static void ask(ncclComm_t comm, struct made* how) {
  ncclResult_t (*rank)(ncclComm_t, int*) =
      (ncclResult_t(*)(ncclComm_t, int*))rf_core->resolve("pncclCommUserRank");
  ncclResult_t (*size)(ncclComm_t, int*) =
      (ncclResult_t(*)(ncclComm_t, int*))rf_core->resolve("pncclCommCount");
  int value = 0;
  if (how->rank < 0 && rank && rank(comm, &value) == ncclSuccess) how->rank = value;
  if (how->size == 0 && size && size(comm, &value) == ncclSuccess) how->size = value;
}

static void add(ncclComm_t comm, struct made how) {
  ask(comm, &how);
  const struct rf_comm_info info = {.id = how.id,
                                    .parent = how.parent,
                                    .parent_seq = how.parent_seq,
                                    .handle = (uint64_t)(uintptr_t)comm,
                                    .size = (uint32_t)how.size,
                                    .rank = how.rank,
                                    .flags = RF_COMM_POSITIONAL,
                                    .library = RF_LIB_NCCL,
                                    .identity = how.no_identity ? RF_ID_NONE
                                                : how.parent    ? RF_ID_DERIVED
                                                                : RF_ID_UNIQUE};
  const uint32_t number = rf_core->comm_add(&info);
  if (number == RF_NO_COMM) return;
  RF_STORE(&device_of[RF_COMM_SLOT(number)], (int16_t)(how.device + 1));
  RF_STORE(&launches_later[RF_COMM_SLOT(number)], (uint8_t)overridden(how.nonblocking));
}

static void add_or_wait(ncclComm_t* where, ncclComm_t before, struct made how) {
  if (*where && *where != before && rf_group_depth() == 0) {
    add(*where, how);
    return;
  }
  const int in_group = rf_group_depth() > 0;
  const int locked = in_group && rf_lock_take(&pending_guard) == 0;
  int kept = 0;
  for (int i = 0; locked && i < kPending && !kept; ++i) {
    if (pending[i].used) continue;
    pending[i].thread = pthread_self();
    pending[i].where = where;
    pending[i].before = before;
    pending[i].how = how;
    pending[i].used = kept = 1;
  }
  if (locked) rf_lock_give(&pending_guard);
  if (!kept && (in_group || *where))
    rf_core->opaque(RF_OPAQUE_COMMUNICATION); /* calls on it will name no communicator */
}

void rf_comms_resolve(void) {
  if (rf_lock_take(&pending_guard) != 0) {
    rf_core->opaque(RF_OPAQUE_COMMUNICATION);
    return;
  }
  for (int i = 0; i < kPending; ++i) {
    if (!pending[i].used || !pthread_equal(pending[i].thread, pthread_self())) continue;
    pending[i].used = 0;
    if (*pending[i].where && *pending[i].where != pending[i].before) add(*pending[i].where, pending[i].how);
  }
  rf_lock_give(&pending_guard);
}

/* A communicator may be a part of the job: then the launcher's rank is valid, or that of the largest
 * communicator so far. A communicator that is larger than the launcher's world disproves the launcher's rank
 * for good, unless it is larger because this process has several of its devices: then it is made in a group,
 * or its id comes twice. */
static void announce(const ncclUniqueId* id, int rank, int size) {
  static uint64_t seen, refuted_by;
  static int largest;
  const uint64_t hash = id ? rf_hash_bytes(0, id, sizeof(*id)) : 0;
  const int again = __atomic_exchange_n(&seen, hash, __ATOMIC_RELAXED) == hash;
  const int several = !id || rf_group_depth() > 0 || again;
  int32_t told_rank = -1, told_size = -1;
  const int told = rf_core->told_by_launcher(&told_rank, &told_size);
  if (id && again && RF_LOAD(&refuted_by) == hash) { /* not a larger world: two of its members are here */
    RF_STORE(&refuted_by, (uint64_t)0);
    RF_STORE(&largest, 0);
  }
  const int refuted = RF_LOAD(&refuted_by) != 0;
  if (told && !refuted && (several || size <= told_size)) {
    if (!several && size < RF_LOAD(&largest)) return;
    rank = told_rank;
    size = told_size;
  } else {
    if (size <= RF_LOAD(&largest) || (refuted && several)) return;
    RF_STORE(&largest, size);
    if (told && !refuted) RF_STORE(&refuted_by, hash);
  }
  rf_core->become_member(RF_LIB_NCCL, rank, size);
}

/* The call waits for the members of the communicator, which are still unknown. It names none, so nothing is
 * proven about the ranks that it waits for. */
static ncclResult_t created(struct rf_call* call, ncclComm_t* where, ncclComm_t before, struct made how,
                            enum rf_verdict verdict, ncclResult_t rc) {
  if (verdict == RF_DO_FORWARD && rf_accepted(rc) && call->outermost) add_or_wait(where, before, how);
  rf_core->end(call, rf_accepted(rc) ? 0 : (int)rc);
  return rc;
}

static struct made by_unique_id(const ncclUniqueId* id, int rank, int size) {
  return (struct made){
      .id = rf_hash_bytes(0, id, sizeof(*id)), .rank = rank, .size = size, .device = rf_current_device()};
}

/* Records the number of members (count), the index of this one (peer) and, as its tag, the communicator:
 * until the library returns, nothing else shows what it waits for. */
static struct rf_call initialisation(const struct made* how, const void* where) {
  struct rf_call call = rf_call_on(RF_OP_COMM_CREATE, NULL, where);
  call.count = how->size > 0 ? (uint64_t)how->size : 0;
  call.peer = how->rank;
  call.tag = how->no_identity ? 0 : RF_TAG_OF_ID(how->id);
  return call;
}

ncclResult_t wrap_ncclCommInitRank(ncclComm_t* comm, int size, ncclUniqueId id, int rank) {
  announce(&id, rank, size);
  const struct made how = by_unique_id(&id, rank, size);
  struct rf_call call = initialisation(&how, WHERE);
  const ncclComm_t before = *comm;
  const enum rf_verdict verdict = rf_core->begin(&call);
  const ncclResult_t rc =
      verdict == RF_DO_FORWARD ? NEXT(ncclCommInitRank)(comm, size, id, rank) : rf_not_made(&call, verdict);
  return created(&call, comm, before, how, verdict, rc);
}

ncclResult_t wrap_ncclCommInitRankConfig(ncclComm_t* comm, int size, ncclUniqueId id, int rank,
                                         ncclConfig_t* config) {
  announce(&id, rank, size);
  struct made how = by_unique_id(&id, rank, size);
  how.nonblocking = is_nonblocking(config, RF_NO_COMM);
  struct rf_call call = initialisation(&how, WHERE);
  const ncclComm_t before = *comm;
  const enum rf_verdict verdict = rf_core->begin(&call);
  const ncclResult_t rc = verdict == RF_DO_FORWARD
                              ? NEXT(ncclCommInitRankConfig)(comm, size, id, rank, config)
                              : rf_not_made(&call, verdict);
  return created(&call, comm, before, how, verdict, rc);
}

/* All members pass the same ids in the same order. */
ncclResult_t wrap_ncclCommInitRankScalable(ncclComm_t* comm, int size, int rank, int count, ncclUniqueId* ids,
                                           ncclConfig_t* config) {
  announce(count > 0 ? ids : NULL, rank, size);
  const struct made how = {.id = rf_hash_bytes(0, ids, (count > 0 ? (size_t)count : 0) * sizeof(*ids)),
                           .rank = rank,
                           .size = size,
                           .device = rf_current_device(),
                           .nonblocking = is_nonblocking(config, RF_NO_COMM)};
  struct rf_call call = initialisation(&how, WHERE);
  const ncclComm_t before = *comm;
  const enum rf_verdict verdict = rf_core->begin(&call);
  const ncclResult_t rc = verdict == RF_DO_FORWARD
                              ? NEXT(ncclCommInitRankScalable)(comm, size, rank, count, ids, config)
                              : rf_not_made(&call, verdict);
  return created(&call, comm, before, how, verdict, rc);
}

/* Only the new members and one old member have the id, and only the old ones know the parent: calls on the
 * new communicator are recorded, but nothing is proven with them. */
ncclResult_t wrap_ncclCommGrow(ncclComm_t parent, int size, const ncclUniqueId* id, int rank,
                               ncclComm_t* made, ncclConfig_t* config) {
  if (!parent) announce(id, rank, size);
  const uint32_t old =
      parent ? rf_core->comm_find(RF_LIB_NCCL, (uint64_t)(uintptr_t)parent, 0) : (uint32_t)RF_NO_COMM;
  const struct made how = {.rank = rank,
                           .size = size,
                           .device = parent ? rf_comm_device(old) : rf_current_device(),
                           .no_identity = 1,
                           .nonblocking = is_nonblocking(config, old)};
  struct rf_call call = initialisation(&how, WHERE);
  const ncclComm_t before = *made;
  const enum rf_verdict verdict = rf_core->begin(&call);
  const ncclResult_t rc = verdict == RF_DO_FORWARD ? NEXT(ncclCommGrow)(parent, size, id, rank, made, config)
                                                   : rf_not_made(&call, verdict);
  return created(&call, made, before, how, verdict, rc);
}

/* All members are in this process; the id must be unique, not shared. */
ncclResult_t wrap_ncclCommInitAll(ncclComm_t* comms, int count, const int* devices) {
  static uint64_t times;
  announce(NULL, 0, 1);
  struct rf_call call = rf_call_on(RF_OP_COMM_CREATE, NULL, WHERE);
  const enum rf_verdict verdict = rf_core->begin(&call);
  const ncclResult_t rc =
      verdict == RF_DO_FORWARD ? NEXT(ncclCommInitAll)(comms, count, devices) : rf_not_made(&call, verdict);
  const uint64_t words[] = {(uint64_t)getpid(), rf_core->now_ns(),
                            __atomic_add_fetch(&times, 1, __ATOMIC_RELAXED)};
  const uint64_t id = rf_hash_bytes(0, words, sizeof(words));
  for (int i = 0; verdict == RF_DO_FORWARD && rc == ncclSuccess && i < count; ++i)
    add(comms[i], (struct made){.id = id, .rank = i, .size = count, .device = devices ? devices[i] : i});
  rf_core->end(&call, (int)rc);
  return rc;
}

static struct made from_parent(const struct rf_call* call, const ncclConfig_t* config, const void* detail,
                               size_t bytes) {
  const struct rf_comm* const parent = call->comm == RF_NO_COMM ? NULL : rf_core->comm_get(call->comm);
  const uint64_t words[] = {parent ? parent->id : 0, call->seq};
  return (struct made){.id = rf_hash_bytes(rf_hash_bytes(0, words, sizeof(words)), detail, bytes),
                       .parent = words[0],
                       .parent_seq = call->seq,
                       .rank = -1,
                       .device = rf_comm_device(call->comm),
                       .nonblocking = is_nonblocking(config, call->comm)};
}

ncclResult_t wrap_ncclCommSplit(ncclComm_t parent, int color, int key, ncclComm_t* made,
                                ncclConfig_t* config) {
  struct rf_call call = rf_call_on(RF_OP_COMM_CREATE, parent, WHERE);
  const ncclComm_t before = *made;
  const enum rf_verdict verdict = rf_core->begin(&call);
  const ncclResult_t rc = verdict == RF_DO_FORWARD ? NEXT(ncclCommSplit)(parent, color, key, made, config)
                                                   : rf_not_made(&call, verdict);
  return created(&call, made, before, from_parent(&call, config, &color, sizeof(color)), verdict, rc);
}

enum { kShrinkAbort = 1 }; /* NCCL_SHRINK_ABORT, new in 2.27 */

ncclResult_t wrap_ncclCommShrink(ncclComm_t parent, int* gone, int count, ncclComm_t* made,
                                 ncclConfig_t* config, int flags) {
  struct rf_call call = rf_call_on(RF_OP_COMM_SHRINK, parent, WHERE);
  const ncclComm_t before = *made;
  const enum rf_verdict verdict = rf_core->begin(&call);
  if (verdict == RF_DO_FORWARD && (flags & kShrinkAbort)) rf_stream_forget(call.comm);
  const ncclResult_t rc = verdict == RF_DO_FORWARD
                              ? NEXT(ncclCommShrink)(parent, gone, count, made, config, flags)
                              : rf_not_made(&call, verdict);
  const size_t bytes = count > 0 ? (size_t)count * sizeof(int) : 0;
  return created(&call, made, before, from_parent(&call, config, gone, bytes), verdict, rc);
}

ncclResult_t wrap_ncclCommFinalize(ncclComm_t comm) {
  struct rf_call call = rf_call_on(RF_OP_FINALIZE, comm, WHERE);
  const enum rf_verdict verdict = rf_core->begin(&call);
  const ncclResult_t rc =
      verdict == RF_DO_FORWARD ? NEXT(ncclCommFinalize)(comm) : rf_not_made(&call, verdict);
  rf_core->end(&call, rf_accepted(rc) ? 0 : (int)rc);
  return rc;
}

static ncclResult_t gone(struct rf_call* call, enum rf_verdict verdict, ncclResult_t rc) {
  rf_core->end(call, rf_accepted(rc) ? 0 : (int)rc);
  if (verdict == RF_DO_FORWARD && rf_accepted(rc) && call->comm != RF_NO_COMM) rf_core->comm_gone(call->comm);
  return rc;
}

ncclResult_t wrap_ncclCommDestroy(ncclComm_t comm) {
  struct rf_call call = rf_call_on(RF_OP_COMM_FREE, comm, WHERE);
  const enum rf_verdict verdict = rf_core->begin(&call);
  return gone(&call, verdict,
              verdict == RF_DO_FORWARD ? NEXT(ncclCommDestroy)(comm) : rf_not_made(&call, verdict));
}

ncclResult_t wrap_ncclCommAbort(ncclComm_t comm) {
  struct rf_call call = rf_call_on(RF_OP_COMM_ABORT, comm, WHERE);
  const enum rf_verdict verdict = rf_core->begin(&call);
  if (verdict == RF_DO_FORWARD) rf_stream_forget(call.comm);
  return gone(&call, verdict,
              verdict == RF_DO_FORWARD ? NEXT(ncclCommAbort)(comm) : rf_not_made(&call, verdict));
}

ncclResult_t wrap_ncclCommRevoke(ncclComm_t comm, int flags) {
  struct rf_call call = rf_call_on(RF_OP_COMM_REVOKE, comm, WHERE);
  const enum rf_verdict verdict = rf_core->begin(&call);
  if (verdict == RF_DO_FORWARD) rf_stream_forget(call.comm);
  const ncclResult_t rc =
      verdict == RF_DO_FORWARD ? NEXT(ncclCommRevoke)(comm, flags) : rf_not_made(&call, verdict);
  rf_core->end(&call, rf_accepted(rc) ? 0 : (int)rc);
  return rc;
}

/* A poll, recorded only if it reports a new error. It does not show completion, except that a non-blocking
 * communicator has put all accepted operations on its streams. */
ncclResult_t wrap_ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  const uint64_t before = rf_stream_position();
  const ncclResult_t rc = NEXT(ncclCommGetAsyncError)(comm, error);
  if (rc == ncclSuccess && *error == ncclSuccess)
    rf_stream_idle(rf_core->comm_find(RF_LIB_NCCL, (uint64_t)(uintptr_t)comm, 0), before);
  if (rc != ncclSuccess || rf_accepted(*error)) return rc;
  struct rf_call call = rf_call_on(RF_OP_ASYNC_ERROR, comm, WHERE);
  const struct rf_comm* const on = call.comm == RF_NO_COMM ? NULL : rf_core->comm_get(call.comm);
  if (!on || on->error != (uint32_t)*error) {
    rf_core->begin(&call);
    rf_core->end(&call, (int)*error);
  }
  rf_stream_failed(call.comm, *error);
  return rc;
}
