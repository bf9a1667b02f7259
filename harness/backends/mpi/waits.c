/* waits.c: waits for requests, and the completions that they show.
 *
 * The entries of the request table are found before the library is entered and used after it: by then the
 * handles are null or belong to another request. A wait is a call. A test is a poll: it is forwarded without
 * its own record, and the completions that it finds are recorded. */
#include "waits.h"

#include <stdlib.h>

enum { kMostNamed = 64 };

/* Requests that do not fit here are looked up in allocated memory: beyond 512 in one call, the allocation is
 * not the main cost of the call. Without memory their completion stays unknown. */
void rf_find_all(struct rf_waited* waited, int count, MPI_Request* requests) {
  waited->entries = waited->on_stack;
  if (count > RF_WAITED_ON_STACK) waited->entries = malloc((size_t)count * sizeof(struct rf_request*));
  if (!waited->entries) rf_core->opaque(RF_OPAQUE_COMMUNICATION);
  waited->count = waited->entries && requests && count > 0 ? count : 0;
  for (int i = 0; i < waited->count; ++i) waited->entries[i] = rf_request_find(requests[i]);
}

void rf_let_go(struct rf_waited* waited) {
  if (waited->entries != waited->on_stack) free(waited->entries);
}

void rf_wait_done(struct rf_waited* waited, int i, int result) {
  if (i < 0 || i >= waited->count) return;
  rf_request_done(waited->entries[i], result);
  waited->entries[i] = NULL;
}

static int nobody_knows_which(int rc, const struct rf_mpi_status* statuses) {
  if (rc == RF_MPI_SUCCESS) return 0;
  return rc != RF_MPI_ERR_IN_STATUS || rf_is_no_status(statuses);
}

/* After a call over all requests. If the statuses have an error, each request has its own result. Without
 * statuses the failed request is unknown, so none is called complete. */
void rf_all_done(struct rf_waited* waited, int rc, const struct rf_mpi_status* statuses) {
  if (nobody_knows_which(rc, statuses)) return;
  for (int i = 0; i < waited->count; ++i) {
    const int error = rc == RF_MPI_SUCCESS ? RF_MPI_SUCCESS : statuses[i].error;
    if (error != RF_MPI_ERR_PENDING) rf_wait_done(waited, i, error);
  }
}

static void some_done(struct rf_waited* waited, int rc, int count, const int* indices,
                      const struct rf_mpi_status* statuses) {
  if (nobody_knows_which(rc, statuses)) return;
  for (int i = 0; count != RF_MPI_UNDEFINED && i < count; ++i)
    rf_wait_done(waited, indices[i], rc == RF_MPI_SUCCESS ? RF_MPI_SUCCESS : statuses[i].error);
}

/* The state holds two requests; the history has the others, so that a whole halo exchange can be followed. */
void rf_name_more(struct rf_call* call, const struct rf_waited* waited) {
  int known = 0;
  for (int i = 0; i < waited->count && known < kMostNamed; ++i) {
    const struct rf_request* const entry = waited->entries[i];
    if (entry && entry->origin != 0 && ++known > 2) rf_core->detail(call, RF_PEER_NONE, 0, 0, entry->origin);
  }
}

/* pending_count also counts unknown requests: then it is larger than the number of origins. */
void rf_waiting(struct rf_call* call, uint16_t op, const struct rf_waited* waited, int count,
                const MPI_Request* requests, const void* where) {
  rf_call_on(call, op, RF_NO_HANDLE, where);
  uint32_t known = 0;
  for (int i = 0; requests && i < count; ++i) {
    if (rf_request_is_over(requests[i])) continue;
    ++call->pending_count;
    const struct rf_request* const entry = i < waited->count ? waited->entries[i] : NULL;
    if (!entry || entry->origin == 0) continue;
    if (known == 0) call->comm = entry->comm;
    if (known < 2) call->pending[known] = entry->origin;
    ++known;
  }
}

#define BEGIN_WAIT(op, n, q)                                   \
  struct rf_waited waited __attribute__((cleanup(rf_let_go))); \
  rf_find_all(&waited, n, q);                                  \
  struct rf_call call;                                         \
  rf_waiting(&call, op, &waited, n, q, WHERE);                 \
  const enum rf_verdict verdict = rf_core->begin(&call);       \
  if (call.pending_count > 2) rf_name_more(&call, &waited);    \
  struct rf_unwind_guard guard __attribute__((cleanup(rf_close_on_unwind))) = {&call}

#define FORWARD(expression) \
  const int rc = verdict == RF_DO_FORWARD ? (expression) : rf_not_made(&call, RF_NO_HANDLE, verdict)

#define END_WAIT(seen)                \
  guard.call = NULL;                  \
  const int outcome = rf_outcome(rc); \
  if (verdict == RF_DO_FORWARD) seen; \
  return rf_core->end(&call, rc)

int wrap_MPI_Wait(MPI_Request* q, struct rf_mpi_status* status) {
  if (rf_is_again(WHERE)) return NEXT(MPI_Wait)(q, status);
  BEGIN_WAIT(RF_OP_WAIT, 1, q);
  FORWARD(NEXT(MPI_Wait)(q, status));
  END_WAIT(rf_wait_done(&waited, 0, outcome));
}

int wrap_MPI_Waitall(int n, MPI_Request q[], struct rf_mpi_status statuses[]) {
  if (rf_is_again(WHERE)) return NEXT(MPI_Waitall)(n, q, statuses);
  BEGIN_WAIT(RF_OP_WAIT, n, q);
  FORWARD(NEXT(MPI_Waitall)(n, q, statuses));
  END_WAIT(rf_all_done(&waited, outcome, statuses));
}

int wrap_MPI_Waitany(int n, MPI_Request q[], int* index, struct rf_mpi_status* status) {
  if (rf_is_again(WHERE)) return NEXT(MPI_Waitany)(n, q, index, status);
  BEGIN_WAIT(RF_OP_WAIT_ANY, n, q);
  FORWARD(NEXT(MPI_Waitany)(n, q, index, status));
  END_WAIT(if (outcome == RF_MPI_SUCCESS) rf_wait_done(&waited, *index, outcome));
}

int wrap_MPI_Waitsome(int n, MPI_Request q[], int* count, int indices[], struct rf_mpi_status statuses[]) {
  if (rf_is_again(WHERE)) return NEXT(MPI_Waitsome)(n, q, count, indices, statuses);
  BEGIN_WAIT(RF_OP_WAIT_ANY, n, q);
  FORWARD(NEXT(MPI_Waitsome)(n, q, count, indices, statuses));
  END_WAIT(if (count) some_done(&waited, outcome, *count, indices, statuses));
}

#define BEGIN_TEST(n, q)                                       \
  struct rf_waited waited __attribute__((cleanup(rf_let_go))); \
  rf_find_all(&waited, n, q);                                  \
  rf_forget_error()

int wrap_MPI_Test(MPI_Request* q, int* flag, struct rf_mpi_status* status) {
  if (rf_is_again(WHERE)) return NEXT(MPI_Test)(q, flag, status);
  BEGIN_TEST(1, q);
  const int rc = NEXT(MPI_Test)(q, flag, status);
  const int outcome = rf_outcome(rc);
  if (outcome != RF_MPI_SUCCESS || *flag) rf_wait_done(&waited, 0, outcome);
  return rf_polled(rc, *flag);
}

int wrap_MPI_Testall(int n, MPI_Request q[], int* flag, struct rf_mpi_status statuses[]) {
  if (rf_is_again(WHERE)) return NEXT(MPI_Testall)(n, q, flag, statuses);
  BEGIN_TEST(n, q);
  const int rc = NEXT(MPI_Testall)(n, q, flag, statuses);
  const int outcome = rf_outcome(rc);
  if (outcome != RF_MPI_SUCCESS || *flag) rf_all_done(&waited, outcome, statuses);
  return rf_polled(rc, *flag);
}

int wrap_MPI_Testany(int n, MPI_Request q[], int* index, int* flag, struct rf_mpi_status* status) {
  if (rf_is_again(WHERE)) return NEXT(MPI_Testany)(n, q, index, flag, status);
  BEGIN_TEST(n, q);
  const int rc = NEXT(MPI_Testany)(n, q, index, flag, status);
  if (rf_outcome(rc) == RF_MPI_SUCCESS && *flag) rf_wait_done(&waited, *index, RF_MPI_SUCCESS);
  return rf_polled(rc, *flag);
}

int wrap_MPI_Testsome(int n, MPI_Request q[], int* count, int indices[], struct rf_mpi_status statuses[]) {
  if (rf_is_again(WHERE)) return NEXT(MPI_Testsome)(n, q, count, indices, statuses);
  BEGIN_TEST(n, q);
  const int rc = NEXT(MPI_Testsome)(n, q, count, indices, statuses);
  if (count) some_done(&waited, rf_outcome(rc), *count, indices, statuses);
  return rf_polled(rc, !count || *count != 0);
}

/* A query only: the requests stay. */
int wrap_MPI_Request_get_status(MPI_Request q, int* flag, struct rf_mpi_status* status) {
  rf_forget_error();
  return rf_polled(NEXT(MPI_Request_get_status)(q, flag, status), *flag);
}
int wrap_MPI_Request_get_status_all(int n, const MPI_Request q[], int* flag, struct rf_mpi_status s[]) {
  rf_forget_error();
  return rf_polled(NEXT(MPI_Request_get_status_all)(n, q, flag, s), *flag);
}
int wrap_MPI_Request_get_status_any(int n, const MPI_Request q[], int* index, int* flag,
                                    struct rf_mpi_status* status) {
  rf_forget_error();
  return rf_polled(NEXT(MPI_Request_get_status_any)(n, q, index, flag, status), *flag);
}
int wrap_MPI_Request_get_status_some(int n, const MPI_Request q[], int* count, int indices[],
                                     struct rf_mpi_status s[]) {
  rf_forget_error();
  return rf_polled(NEXT(MPI_Request_get_status_some)(n, q, count, indices, s), *count != 0);
}

/* Freed: from here on it is unknown whether the request ever completed. */
void rf_request_freed(struct rf_request* entry) {
  if (!entry) return;
  if (entry->persistent && entry->comm != entry->prepared_on) rf_core->comm_gone(entry->comm);
  rf_request_forget(entry);
}

int wrap_MPI_Request_free(MPI_Request* q) {
  if (rf_is_again(WHERE)) return NEXT(MPI_Request_free)(q);
  struct rf_request* const entry = rf_request_find(*q);
  rf_forget_error();
  const int rc = NEXT(MPI_Request_free)(q);
  if (rf_outcome(rc) == RF_MPI_SUCCESS) rf_request_freed(entry);
  return rc;
}

/* Cancelled: only the status shows whether the request still took part in the matching. */
void rf_request_cancelled(struct rf_request* entry) {
  if (entry && !entry->persistent) rf_request_forget(entry);
  if (entry && entry->persistent) entry->origin = 0;
}

int wrap_MPI_Cancel(MPI_Request* q) {
  rf_core->opaque(RF_OPAQUE_COMMUNICATION);
  if (rf_is_again(WHERE)) return NEXT(MPI_Cancel)(q);
  struct rf_request* const entry = rf_request_find(*q);
  rf_forget_error();
  const int rc = NEXT(MPI_Cancel)(q);
  if (rf_outcome(rc) == RF_MPI_SUCCESS) rf_request_cancelled(entry);
  return rc;
}
