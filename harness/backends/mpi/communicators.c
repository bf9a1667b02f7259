/* communicators.c: creates, frees and repairs communicators.
 *
 * A creation is a collective over its parent and takes a place in the parent's order. Creations in which only
 * the new members take part (create_group, intercomm_create) take none. */
#include "decoder.h"

/* Evaluates `forward`. The new communicator gets its identity from the parent and this call's k. */
#define RF_RETURN_CREATION(call_, comm_, made, forward)                                                      \
  do {                                                                                                       \
    const enum rf_verdict verdict_ = rf_core->begin(call_);                                                  \
    struct rf_unwind_guard guard_ __attribute__((cleanup(rf_close_on_unwind))) = {call_};                    \
    const int rc_ = verdict_ == RF_DO_FORWARD ? (forward) : creation_not_made(call_, comm_, verdict_, made); \
    guard_.call = NULL;                                                                                      \
    if (verdict_ == RF_DO_FORWARD && rf_outcome(rc_) == RF_MPI_SUCCESS && (call_)->outermost)                \
      rf_comm_made(*(made), (call_)->comm, (call_)->seq);                                                    \
    return rf_core->end(call_, rc_);                                                                         \
  } while (0)

static int creation_not_made(struct rf_call* call, MPI_Comm comm, enum rf_verdict verdict, MPI_Comm* made) {
  *made = rf_mpi.comm_null;
  return rf_not_made(call, comm, verdict);
}

int wrap_MPI_Comm_dup(MPI_Comm c, MPI_Comm* made) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_COMM_CREATE, c, WHERE);
  RF_RETURN_CREATION(&call, c, made, NEXT(MPI_Comm_dup)(c, made));
}

int wrap_MPI_Comm_dup_with_info(MPI_Comm c, MPI_Info info, MPI_Comm* made) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_COMM_CREATE, c, WHERE);
  RF_RETURN_CREATION(&call, c, made, NEXT(MPI_Comm_dup_with_info)(c, info, made));
}

int wrap_MPI_Comm_split(MPI_Comm c, int color, int key, MPI_Comm* made) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_COMM_CREATE, c, WHERE);
  RF_RETURN_CREATION(&call, c, made, NEXT(MPI_Comm_split)(c, color, key, made));
}

int wrap_MPI_Comm_split_type(MPI_Comm c, int type, int key, MPI_Info info, MPI_Comm* made) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_COMM_CREATE, c, WHERE);
  RF_RETURN_CREATION(&call, c, made, NEXT(MPI_Comm_split_type)(c, type, key, info, made));
}

int wrap_MPI_Comm_create(MPI_Comm c, MPI_Group group, MPI_Comm* made) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_COMM_CREATE, c, WHERE);
  RF_RETURN_CREATION(&call, c, made, NEXT(MPI_Comm_create)(c, group, made));
}

int wrap_MPI_Cart_create(MPI_Comm c, int n, const int dims[], const int periods[], int reorder,
                         MPI_Comm* made) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_COMM_CREATE, c, WHERE);
  RF_RETURN_CREATION(&call, c, made, NEXT(MPI_Cart_create)(c, n, dims, periods, reorder, made));
}

int wrap_MPI_Cart_sub(MPI_Comm c, const int remain[], MPI_Comm* made) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_COMM_CREATE, c, WHERE);
  RF_RETURN_CREATION(&call, c, made, NEXT(MPI_Cart_sub)(c, remain, made));
}

int wrap_MPI_Graph_create(MPI_Comm c, int n, const int index[], const int edges[], int reorder,
                          MPI_Comm* made) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_COMM_CREATE, c, WHERE);
  RF_RETURN_CREATION(&call, c, made, NEXT(MPI_Graph_create)(c, n, index, edges, reorder, made));
}

int wrap_MPI_Dist_graph_create(MPI_Comm c, int n, const int sources[], const int degrees[], const int to[],
                               const int weights[], MPI_Info info, int reorder, MPI_Comm* made) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_COMM_CREATE, c, WHERE);
  RF_RETURN_CREATION(&call, c, made,
                     NEXT(MPI_Dist_graph_create)(c, n, sources, degrees, to, weights, info, reorder, made));
}

int wrap_MPI_Dist_graph_create_adjacent(MPI_Comm c, int in, const int from[], const int in_weights[], int out,
                                        const int to[], const int out_weights[], MPI_Info info, int reorder,
                                        MPI_Comm* made) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_COMM_CREATE, c, WHERE);
  RF_RETURN_CREATION(&call, c, made,
                     NEXT(MPI_Dist_graph_create_adjacent)(c, in, from, in_weights, out, to, out_weights, info,
                                                          reorder, made));
}

int wrap_MPI_Intercomm_merge(MPI_Comm c, int high, MPI_Comm* made) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_COMM_CREATE, c, WHERE);
  RF_RETURN_CREATION(&call, c, made, NEXT(MPI_Intercomm_merge)(c, high, made));
}

/* The identity is added when the request completes: the library may fill `made` only then. */
int wrap_MPI_Comm_idup(MPI_Comm c, MPI_Comm* made, MPI_Request* request) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_COMM_CREATE, c, WHERE);
  call.flags |= RF_CALL_NONBLOCKING;
  const enum rf_verdict verdict = rf_core->begin(&call);
  struct rf_unwind_guard guard __attribute__((cleanup(rf_close_on_unwind))) = {&call};
  const int rc = verdict == RF_DO_FORWARD ? NEXT(MPI_Comm_idup)(c, made, request) : RF_MPI_SUCCESS;
  guard.call = NULL;
  const int result = rf_enqueued(&call, c, verdict, request, rc);
  struct rf_request* const entry =
      verdict == RF_DO_FORWARD && rf_outcome(rc) == RF_MPI_SUCCESS ? rf_request_find(*request) : NULL;
  if (entry) entry->new_comm = made;
  return result;
}

/* Only the members of the new communicator take part: no place in the parent's order, no claim of needs on
 * it. */
int wrap_MPI_Comm_create_group(MPI_Comm c, MPI_Group group, int tag, MPI_Comm* made) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_COMM_CREATE, RF_NO_HANDLE, WHERE);
  call.tag = tag;
  const enum rf_verdict verdict = rf_core->begin(&call);
  struct rf_unwind_guard guard __attribute__((cleanup(rf_close_on_unwind))) = {&call};
  const int rc = verdict == RF_DO_FORWARD ? NEXT(MPI_Comm_create_group)(c, group, tag, made)
                                          : creation_not_made(&call, c, verdict, made);
  guard.call = NULL;
  if (verdict == RF_DO_FORWARD && rf_outcome(rc) == RF_MPI_SUCCESS && call.outermost)
    rf_comm_made_by_tag(*made, rf_comm_index(c), tag);
  return rf_core->end(&call, rc);
}

int wrap_MPI_Intercomm_create(MPI_Comm local, int leader, MPI_Comm peer, int remote_leader, int tag,
                              MPI_Comm* made) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_COMM_CREATE, local, WHERE);
  call.tag = tag;
  const enum rf_verdict verdict = rf_core->begin(&call);
  struct rf_unwind_guard guard __attribute__((cleanup(rf_close_on_unwind))) = {&call};
  const int rc = verdict == RF_DO_FORWARD
                     ? NEXT(MPI_Intercomm_create)(local, leader, peer, remote_leader, tag, made)
                     : creation_not_made(&call, local, verdict, made);
  guard.call = NULL;
  if (verdict == RF_DO_FORWARD && rf_outcome(rc) == RF_MPI_SUCCESS && call.outermost)
    rf_comm_made_by_tag(*made, RF_NO_COMM, tag);
  return rf_core->end(&call, rc);
}

/* A persistent request keeps the communicator alive and may start long after its handle is gone. */
void rf_comm_is_over(uint32_t comm) {
  if (comm == RF_NO_COMM) return;
  if (rf_request_prepared_on(comm)) rf_core->opaque(RF_OPAQUE_COMMUNICATION);
  rf_core->comm_gone(comm);
}

#define RF_RETURN_END_OF_COMM(call_, comm_, forward)                                                \
  do {                                                                                              \
    const enum rf_verdict verdict_ = rf_core->begin(call_);                                         \
    struct rf_unwind_guard guard_ __attribute__((cleanup(rf_close_on_unwind))) = {call_};           \
    const int rc_ = verdict_ == RF_DO_FORWARD ? (forward) : rf_not_made(call_, *(comm_), verdict_); \
    guard_.call = NULL;                                                                             \
    rf_core->end(call_, rc_);                                                                       \
    if (verdict_ == RF_DO_FORWARD && rf_outcome(rc_) == RF_MPI_SUCCESS && (call_)->outermost)       \
      rf_comm_is_over((call_)->comm);                                                               \
    return rc_;                                                                                     \
  } while (0)

int wrap_MPI_Comm_free(MPI_Comm* c) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_COMM_FREE, *c, WHERE);
  RF_RETURN_END_OF_COMM(&call, c, NEXT(MPI_Comm_free)(c));
}

int wrap_MPI_Comm_disconnect(MPI_Comm* c) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_COMM_FREE, *c, WHERE);
  RF_RETURN_END_OF_COMM(&call, c, NEXT(MPI_Comm_disconnect)(c));
}

/* User-level failure mitigation. Revoke needs no other rank; shrink and agree need every live rank. The k of
 * a shrink may differ between survivors (each saw the failure in another call), so the members decide. */
int wrap_MPIX_Comm_revoke(MPI_Comm c) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_COMM_REVOKE, c, WHERE);
  RF_RETURN_CALL(&call, c, NEXT(MPIX_Comm_revoke)(c));
}

int wrap_MPIX_Comm_agree(MPI_Comm c, int* flag) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_COMM_AGREE, c, WHERE);
  RF_RETURN_CALL(&call, c, NEXT(MPIX_Comm_agree)(c, flag));
}

int wrap_MPIX_Comm_shrink(MPI_Comm c, MPI_Comm* made) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_COMM_SHRINK, c, WHERE);
  const enum rf_verdict verdict = rf_core->begin(&call);
  struct rf_unwind_guard guard __attribute__((cleanup(rf_close_on_unwind))) = {&call};
  const int rc =
      verdict == RF_DO_FORWARD ? NEXT(MPIX_Comm_shrink)(c, made) : creation_not_made(&call, c, verdict, made);
  guard.call = NULL;
  if (verdict == RF_DO_FORWARD && rf_outcome(rc) == RF_MPI_SUCCESS && call.outermost)
    rf_comm_made_by_tag(*made, call.comm, -1);
  return rf_core->end(&call, rc);
}
