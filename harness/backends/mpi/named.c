/* named.c: MPI-IO and one-sided communication, recorded as entered and left with their names, so that a rank
 * that hangs in one is visible there. The only argument read is the communicator, or the file or window,
 * whose communicator is in a small table.
 *
 * No function of the list has more than six arguments, and all are integers or pointers: they are passed on
 * unchanged, in registers. */
#include "decoder.h"
#include "harness/agent/named_calls.h"

typedef uintptr_t word;
typedef int (*function)(word, word, word, word, word, word);

/* The open files and windows. If the table is full, the communicator of further ones is unknown. */
enum { kObjects = 64 };
static struct {
  uint64_t key; /* 0: free */
  uint32_t comm;
} objects[kObjects];

static int is_file(int id) {
  static const uint16_t kOps[] = {
#define RF_NAMED_CALL(id, text, op, all) RF_OP_##op,
#include "harness/agent/named_calls.def"
#undef RF_NAMED_CALL
  };
  return kOps[id] == RF_OP_IO;
}

static int is_of_all(int id) {
  static const uint8_t kAll[] = {
#define RF_NAMED_CALL(id, text, op, all) all,
#include "harness/agent/named_calls.def"
#undef RF_NAMED_CALL
  };
  return kAll[id];
}

/* A file is a pointer in every MPI; a window has the type of a communicator. Never 0. */
static uint64_t key_of(int id, word handle) {
  const int is_number = !is_file(id) && sizeof(MPI_Comm) == sizeof(int);
  return (uint64_t)(is_number ? (uint32_t)handle : handle) << 1 | 1;
}

static uint64_t key_at(int id, word pointer) {
  if (pointer == 0) return 0;
  const int is_number = !is_file(id) && sizeof(MPI_Comm) == sizeof(int);
  return key_of(id, is_number ? (word) * (const uint32_t*)pointer : *(const word*)pointer); /* NOLINT */
}

static uint32_t comm_of(uint64_t key) {
  for (int i = 0; key != 0 && i < kObjects; ++i)
    if (RF_LOAD(&objects[i].key) == key) return RF_LOAD(&objects[i].comm);
  return RF_NO_COMM;
}

static void forget(uint64_t key) {
  for (int i = 0; key != 0 && i < kObjects; ++i)
    if (RF_LOAD(&objects[i].key) == key) RF_STORE(&objects[i].key, 0);
}

/* An entry that already has the handle was freed in a way that was not seen. */
static void keep(uint64_t key, uint32_t comm) {
  forget(key);
  for (int i = 0; key != 0 && i < kObjects; ++i) {
    uint64_t none = 0;
    if (!__atomic_compare_exchange_n(&objects[i].key, &none, ~(uint64_t)0, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
      continue;
    RF_STORE(&objects[i].comm, comm);
    RF_STORE(&objects[i].key, key);
    return;
  }
}

static void named(struct rf_call* call, int id, uint32_t comm, const void* where) {
  rf_call_on(call, is_file(id) ? RF_OP_IO : RF_OP_RMA, RF_NO_HANDLE, where);
  call->comm = comm;
  call->seq = RF_SEQ_NONE;
  call->tag = id;
  call->count = (uint64_t)is_of_all(id);
}

#define PARAMETERS word a0, word a1, word a2, word a3, word a4, word a5
#define ARGUMENTS a0, a1, a2, a3, a4, a5

#define FORWARDED(name)                                                                \
  const enum rf_verdict verdict = rf_core->begin(&call);                               \
  struct rf_unwind_guard guard __attribute__((cleanup(rf_close_on_unwind))) = {&call}; \
  const int rc = verdict == RF_DO_FORWARD ? ((function)next_##name)(ARGUMENTS)         \
                                          : rf_not_made(&call, RF_NO_HANDLE, verdict); \
  const int done = verdict == RF_DO_FORWARD && rf_outcome(rc) == RF_MPI_SUCCESS;       \
  guard.call = NULL

#define RF_MAKES(name, over, made)                                            \
  int wrap_##name(PARAMETERS) {                                               \
    const uint32_t comm = rf_comm_index((MPI_Comm)a##over);                   \
    struct rf_call call;                                                      \
    named(&call, RF_NAMED_##name, comm, WHERE);                               \
    FORWARDED(name);                                                          \
    if (done && call.outermost) keep(key_at(RF_NAMED_##name, a##made), comm); \
    return rf_core->end(&call, rc);                                           \
  }

/* Forgotten before the library frees it: another thread may get the same handle immediately after. */
#define RF_ENDS(name)                                 \
  int wrap_##name(PARAMETERS) {                       \
    const uint64_t key = key_at(RF_NAMED_##name, a0); \
    const uint32_t comm = comm_of(key);               \
    struct rf_call call;                              \
    named(&call, RF_NAMED_##name, comm, WHERE);       \
    forget(key);                                      \
    FORWARDED(name);                                  \
    if (!done && comm != RF_NO_COMM) keep(key, comm); \
    return rf_core->end(&call, rc);                   \
  }

#define RF_USES(name, on)                                                          \
  int wrap_##name(PARAMETERS) {                                                    \
    struct rf_call call;                                                           \
    named(&call, RF_NAMED_##name, comm_of(key_of(RF_NAMED_##name, a##on)), WHERE); \
    RF_RETURN_CALL(&call, RF_NO_HANDLE, ((function)next_##name)(ARGUMENTS));       \
  }

#include "named.def"
