/* fortran_waits.c: waits for requests from Fortran. After an error the failed request is unknown here, so
 * none is called complete. */
#include <stdlib.h>

#include "fortran.h"
#include "waits.h"

struct handles { /* converted from an array of numbers */
  int count;
  MPI_Request* all;
  MPI_Request on_stack[RF_WAITED_ON_STACK];
};

static void convert(struct handles* h, int count, const fint* numbers) {
  h->all = h->on_stack;
  if (count > RF_WAITED_ON_STACK) h->all = malloc((size_t)count * sizeof(MPI_Request));
  h->count = h->all && count > 0 ? count : 0;
  if (!h->all) rf_core->opaque(RF_OPAQUE_COMMUNICATION);
  for (int i = 0; i < h->count; ++i) h->all[i] = rf_request_f2c(numbers[i]);
}

static void drop(struct handles* h) {
  if (h->all != h->on_stack) free(h->all);
}

static void some_done(struct rf_waited* waited, int module, int rc, int count, const fint* indices) {
  const int first = rf_abi_fortran_first_index(module);
  if (rc != RF_MPI_SUCCESS) return;
  for (int i = 0; count != RF_MPI_UNDEFINED && i < count; ++i)
    rf_wait_done(waited, indices[i] - first, RF_MPI_SUCCESS);
}

#define FIND(n, q)                                             \
  struct handles handles __attribute__((cleanup(drop)));       \
  struct rf_waited waited __attribute__((cleanup(rf_let_go))); \
  convert(&handles, n, q);                                     \
  rf_find_all(&waited, handles.count, handles.all)

/* `seen` runs after the library's own call. */
#define WAIT(op, n, q, forward, seen)                                                                   \
  do {                                                                                                  \
    FIND(n, q);                                                                                         \
    struct rf_call call;                                                                                \
    rf_waiting(&call, op, &waited, handles.count, handles.all, where);                                  \
    MAKE(&call, RF_NO_HANDLE, if (call.pending_count > 2) rf_name_more(&call, &waited); forward; seen); \
  } while (0)

/* Forwards without its own record; `seen` runs after it. */
#define FORWARD(n, q, forward, seen)    \
  do {                                  \
    FIND(n, q);                         \
    const fint rc = FORWARDED(forward); \
    seen;                               \
  } while (0)

/* A poll: requests that it finds complete are recorded. */
#define TEST(n, q, forward, found, seen) FORWARD(n, q, forward, rf_polled(rc, found); seen)

static void f_wait(FROM, fint* q, void* status, fint* error) {
  WAIT(RF_OP_WAIT, 1, q, GO(next)(q, status, e), rf_wait_done(&waited, 0, rf_outcome(*e)));
}
NAMES(wait, (fint * q, void* status, fint* error), (q, status, error))

static void f_waitall(FROM, fint* n, fint* q, void* statuses, fint* error) {
  WAIT(RF_OP_WAIT, *n, q, GO(next)(n, q, statuses, e), rf_all_done(&waited, rf_outcome(*e), NULL));
}
NAMES(waitall, (fint * n, fint* q, void* statuses, fint* error), (n, q, statuses, error))

static void f_waitany(FROM, fint* n, fint* q, fint* index, void* status, fint* error) {
  WAIT(RF_OP_WAIT_ANY, *n, q, GO(next)(n, q, index, status, e),
       some_done(&waited, module, rf_outcome(*e), 1, index));
}
NAMES(waitany, (fint * n, fint* q, fint* index, void* status, fint* error), (n, q, index, status, error))

static void f_waitsome(FROM, fint* n, fint* q, fint* count, fint* indices, void* statuses, fint* error) {
  WAIT(RF_OP_WAIT_ANY, *n, q, GO(next)(n, q, count, indices, statuses, e),
       some_done(&waited, module, rf_outcome(*e), *count, indices));
}
NAMES(waitsome, (fint * n, fint* q, fint* count, fint* indices, void* statuses, fint* error),
      (n, q, count, indices, statuses, error))

static void f_test(FROM, fint* q, fint* flag, void* status, fint* error) {
  TEST(1, q, GO(next)(q, flag, status, e), *flag,
       if (rc != RF_MPI_SUCCESS || *flag) rf_wait_done(&waited, 0, rc));
}
NAMES(test, (fint * q, fint* flag, void* status, fint* error), (q, flag, status, error))

static void f_testall(FROM, fint* n, fint* q, fint* flag, void* statuses, fint* error) {
  TEST(*n, q, GO(next)(n, q, flag, statuses, e), *flag,
       if (rc != RF_MPI_SUCCESS || *flag) rf_all_done(&waited, rc, NULL));
}
NAMES(testall, (fint * n, fint* q, fint* flag, void* statuses, fint* error), (n, q, flag, statuses, error))

static void f_testany(FROM, fint* n, fint* q, fint* index, fint* flag, void* status, fint* error) {
  TEST(*n, q, GO(next)(n, q, index, flag, status, e), *flag,
       if (*flag) some_done(&waited, module, rc, 1, index));
}
NAMES(testany, (fint * n, fint* q, fint* index, fint* flag, void* status, fint* error),
      (n, q, index, flag, status, error))

static void f_testsome(FROM, fint* n, fint* q, fint* count, fint* indices, void* statuses, fint* error) {
  TEST(*n, q, GO(next)(n, q, count, indices, statuses, e), *count != 0,
       some_done(&waited, module, rc, *count, indices));
}
NAMES(testsome, (fint * n, fint* q, fint* count, fint* indices, void* statuses, fint* error),
      (n, q, count, indices, statuses, error))

/* Freed: from here on it is unknown whether the request ever completed. */
static void f_request_free(FROM, fint* q, fint* error) {
  FORWARD(1, q, GO(next)(q, e),
          if (rc == RF_MPI_SUCCESS && waited.count) rf_request_freed(waited.entries[0]));
}
NAMES(request_free, (fint * q, fint* error), (q, error))

/* Cancelled: only the status shows whether the request still took part in the matching. */
static void f_cancel(FROM, fint* q, fint* error) {
  rf_core->opaque(RF_OPAQUE_COMMUNICATION);
  FORWARD(1, q, GO(next)(q, e),
          if (rc == RF_MPI_SUCCESS && waited.count) rf_request_cancelled(waited.entries[0]));
}
NAMES(cancel, (fint * q, fint* error), (q, error))
