/* requests.c: the recorded call of each request.
 *
 * A fixed table with open addressing within a window, one compare-and-swap per entry, no locks and no
 * allocation. A handle can be in it twice for a moment: the library frees a request inside MPI_Wait and may
 * give the same address to another thread before the waiter has removed its entry. So entries have a stamp,
 * the newer one counts, and a waiter removes exactly the entry that it found before it waited. Requests that
 * are null, or complete at creation (one handle of the library stands for many), are not entered. */
#include "decoder.h"

enum { kEntries = 8192, kWindow = 32 };

static struct rf_request entries[kEntries + kWindow];
static uint64_t stamps;

static unsigned start_of(MPI_Request handle) {
  return (unsigned)(RF_HANDLE_BITS(handle) * 0x9e3779b97f4a7c15ull >> 51) % kEntries;
}

uint64_t rf_place_of(const struct rf_call* call) {
  return call->op >= RF_OP_SEND && call->op <= RF_OP_PROBE ? 0 : call->seq;
}

struct rf_request* rf_request_track(MPI_Request handle, const struct rf_call* call) {
  if (rf_request_is_over(handle)) {
    /* Nothing is pending: the library itself says that it is complete. */
    rf_core->complete(RF_ORIGIN(call->lane, call->number), call->comm, rf_place_of(call), 0);
    return NULL;
  }
  struct rf_request* const window = entries + start_of(handle);
  for (int i = 0; i < kWindow; ++i) {
    uint64_t none = 0;
    /* Reserved with a mark that no lookup matches; the handle is stored when the entry is whole. */
    if (RF_LOAD(&window[i].handle) != 0 ||
        !__atomic_compare_exchange_n(&window[i].handle, &none, (uint64_t)(uintptr_t)entries, 0,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      continue;
    window[i].stamp = __atomic_add_fetch(&stamps, 1, __ATOMIC_RELAXED);
    window[i].origin = RF_ORIGIN(call->lane, call->number);
    window[i].seq = rf_place_of(call);
    window[i].comm = call->comm;
    window[i].persistent = 0;
    window[i].new_comm = NULL;
    window[i].new_comm_number = NULL;
    RF_STORE(&window[i].handle, RF_HANDLE_BITS(handle));
    return &window[i];
  }
  /* The completion of this request can no longer be recorded: the view of the process is incomplete. */
  rf_core->opaque(RF_OPAQUE_COMMUNICATION);
  return NULL;
}

struct rf_request* rf_request_find(MPI_Request handle) {
  struct rf_request* found = NULL;
  if (rf_request_is_over(handle)) return NULL;
  struct rf_request* const window = entries + start_of(handle);
  for (int i = 0; i < kWindow; ++i)
    if (RF_LOAD(&window[i].handle) == RF_HANDLE_BITS(handle) && (!found || window[i].stamp > found->stamp))
      found = &window[i];
  return found;
}

void rf_request_forget(struct rf_request* request) {
  if (request) RF_STORE(&request->handle, (uint64_t)0);
}

int rf_request_prepared_on(uint32_t comm) {
  for (unsigned i = 0; i < sizeof(entries) / sizeof(*entries); ++i) {
    const uint64_t handle = RF_LOAD(&entries[i].handle);
    if (handle != 0 && handle != (uint64_t)(uintptr_t)entries && entries[i].persistent &&
        entries[i].prepared_on == comm)
      return 1;
  }
  return 0;
}

void rf_request_done(struct rf_request* request, int result) {
  if (!request || request->origin == 0) return;
  const uint64_t origin = request->origin;
  request->origin = 0;
  if (request->new_comm && result == RF_MPI_SUCCESS)
    rf_comm_made(*request->new_comm, request->comm, request->seq);
  if (request->new_comm_number && result == RF_MPI_SUCCESS)
    rf_comm_made(rf_comm_f2c(*request->new_comm_number), request->comm, request->seq);
  rf_core->complete(origin, request->comm, request->seq, result);
  if (!request->persistent) rf_request_forget(request);
}
