/* exchanges.c: gather, scatter and all-to-all in all their forms, and who owes this rank bytes.
 *
 * `count` is what must agree between ranks: the elements of one block. In the v-forms it is this
 * rank's own part and may differ by design (RF_CALL_RANK_LOCAL). `needs_mask` says exactly which
 * members owe this rank bytes; a rank owes itself nothing that another could withhold. */
#include "decoder.h"
#include "shapes.h"

static const struct rf_comm* intra(const struct rf_call* call) {
  const struct rf_comm* const on = call->comm == RF_NO_COMM ? NULL : rf_core->comm_get(call->comm);
  return on && !(on->flags & RF_COMM_INTER) ? on : NULL;
}

static void set_elements(struct rf_call* call, int count, MPI_Datatype type) {
  const struct rf_elements elements = rf_elements(count, type);
  call->count = elements.count;
  call->dtype = elements.dtype;
}

/* Every other member owes the same: something or nothing. */
static void owed_by_all(struct rf_call* call, uint64_t bytes) {
  const struct rf_comm* const on = intra(call);
  if (bytes == 0) call->flags |= RF_CALL_OWN_SHARE_0;
  if (!on || on->size > 64 || on->rank < 0) return;
  const uint64_t all = on->size == 64 ? ~0ull : (1ull << on->size) - 1;
  call->needs_mask = bytes ? all & ~(1ull << on->rank) : 0;
  call->flags |= RF_CALL_MASK_VALID;
}

/* Each member owes its own count, of one type or of a type each. */
static void owed_each(struct rf_call* call, const int* counts, MPI_Datatype type, const MPI_Datatype* types) {
  const struct rf_comm* const on = intra(call);
  if (!on || !counts || on->rank < 0) {
    call->flags |= RF_CALL_COUNT_UNKNOWN;
    return;
  }
  uint64_t mask = 0;
  int anything = 0;
  for (uint32_t r = 0; r < on->size; ++r) {
    if (rf_bytes(counts[r], types ? types[r] : type) == 0) continue;
    anything = 1;
    if (r < 64 && (int)r != on->rank) mask |= 1ull << r;
  }
  if (!anything) call->flags |= RF_CALL_OWN_SHARE_0;
  if (on->size > 64) return;
  call->needs_mask = mask;
  call->flags |= RF_CALL_MASK_VALID;
}

/* In an intracommunicator a rank is also its own partner: what it sends itself it takes (MPI 4.1, 6.5
 * to 6.8). */
static void own_share(struct rf_call* call, int sent, MPI_Datatype st, int taken, MPI_Datatype tt) {
  if (intra(call) && rf_is_unequal(sent, st, taken, tt)) call->flags |= RF_CALL_UNEQUAL;
}

/* Of what type this rank takes the shares of others. */
static void takes(struct rf_call* call, MPI_Datatype type) {
  if (intra(call)) call->tag = rf_elements(0, type).dtype | RF_TAKEN_KNOWN;
}

void rf_block(struct rf_call* call, uint16_t op, MPI_Comm c, const void* s, int sn, MPI_Datatype st, int rn,
              MPI_Datatype rt, const void* where) {
  rf_call_on(call, op, c, where);
  const int in_place = s == RF_MPI_IN_PLACE;
  if (in_place) call->flags |= RF_CALL_IN_PLACE;
  set_elements(call, in_place ? rn : sn, in_place ? rt : st);
  owed_by_all(call, rf_bytes(rn, rt));
  takes(call, rt);
  if (!in_place) own_share(call, sn, st, rn, rt);
}

void rf_blocks(struct rf_call* call, uint16_t op, MPI_Comm c, const void* s, int sn, MPI_Datatype st,
               const int* rn, MPI_Datatype rt, const void* where) {
  rf_call_on(call, op, c, where);
  const struct rf_comm* const on = intra(call);
  call->flags |= RF_CALL_RANK_LOCAL;
  if (s != RF_MPI_IN_PLACE) {
    set_elements(call, sn, st);
    if (on && on->rank >= 0) own_share(call, sn, st, rn[on->rank], rt);
  } else {
    call->flags |= RF_CALL_IN_PLACE;
    if (on && on->rank >= 0) set_elements(call, rn[on->rank], rt);
  }
  takes(call, rt);
  owed_each(call, rn, rt, NULL);
}

/* What a rank takes is of one type, whoever sent it: so with what it sends and takes its partners' types are
 * known, of those that exchange something with it. */
static int32_t taken_of(const struct rf_comm* on, const int* sn, MPI_Datatype st, const int* rn,
                        MPI_Datatype rt) {
  const int sends = rf_bytes(1, st) != 0, takes = rf_bytes(1, rt) != 0;
  int32_t tag = rf_elements(0, rt).dtype | RF_TAKEN_KNOWN | RF_SENDS_TO_EACH | RF_TAKES_FROM_EACH;
  for (uint32_t r = 0; r < on->size; ++r) {
    if ((int)r == on->rank) continue;
    if (!sends || sn[r] <= 0) tag &= ~RF_SENDS_TO_EACH;
    if (!takes || rn[r] <= 0) tag &= ~RF_TAKES_FROM_EACH;
  }
  return tag;
}

/* All-to-all: the own part is the sum over all destinations; unknown when in place or of several types. */
void rf_all_to_all(struct rf_call* call, uint16_t op, MPI_Comm c, const void* s, const int* sn,
                   MPI_Datatype st, const int* rn, MPI_Datatype rt, const MPI_Datatype* rts,
                   const void* where) {
  rf_call_on(call, op, c, where);
  const struct rf_comm* const on = intra(call);
  call->flags |= RF_CALL_RANK_LOCAL;
  if (s == RF_MPI_IN_PLACE) call->flags |= RF_CALL_IN_PLACE;
  if (s == RF_MPI_IN_PLACE || rts || !on || !sn) {
    call->flags |= RF_CALL_COUNT_UNKNOWN;
  } else {
    int total = 0;
    for (uint32_t r = 0; r < on->size; ++r) total += sn[r];
    set_elements(call, total, st);
    if (rn && op == RF_OP_ALL_TO_ALLV) call->tag = taken_of(on, sn, st, rn, rt);
    if (on->rank >= 0) own_share(call, sn[on->rank], st, rn[on->rank], rt);
  }
  owed_each(call, rn, rt, rts);
}

static int is_root(const struct rf_call* call, int root) {
  const struct rf_comm* const on = intra(call);
  return on && on->rank == root;
}

/* At the root the receive side is significant and, unless in place, the send side too; elsewhere only
 * the send side is read. */
void rf_gather(struct rf_call* call, uint16_t op, MPI_Comm c, const void* s, int sn, MPI_Datatype st, int rn,
               MPI_Datatype rt, const int* rns, int root, const void* where) {
  rf_call_on(call, op, c, where);
  call->peer = root;
  if (rns || op == RF_OP_GATHERV) call->flags |= RF_CALL_RANK_LOCAL;
  const int at_root = is_root(call, root);
  if (at_root && s == RF_MPI_IN_PLACE) {
    call->flags |= RF_CALL_IN_PLACE;
    set_elements(call, rns ? rns[root] : rn, rt);
  } else if (intra(call) || root >= 0) {
    set_elements(call, sn, st);
  }
  if (at_root) takes(call, rt);
  if (at_root && s != RF_MPI_IN_PLACE) own_share(call, sn, st, rns ? rns[root] : rn, rt);
  if (at_root && rns) owed_each(call, rns, rt, NULL);
  if (at_root && !rns) owed_by_all(call, rf_bytes(rn, rt));
}

void rf_scatter(struct rf_call* call, uint16_t op, MPI_Comm c, int sn, MPI_Datatype st, const int* sns,
                const void* r, int rn, MPI_Datatype rt, int root, const void* where) {
  rf_call_on(call, op, c, where);
  call->peer = root;
  if (op == RF_OP_SCATTERV) call->flags |= RF_CALL_RANK_LOCAL;
  if (!is_root(call, root)) {
    if (!intra(call) && root < 0) return; /* the root's side of an intercommunicator */
    set_elements(call, rn, rt);
    takes(call, rt);
    if (rf_bytes(rn, rt) == 0) call->flags |= RF_CALL_OWN_SHARE_0;
    return;
  }
  if (r == RF_MPI_IN_PLACE) call->flags |= RF_CALL_IN_PLACE;
  if (r != RF_MPI_IN_PLACE) own_share(call, sns ? sns[root] : sn, st, rn, rt);
  set_elements(call, sns ? sns[root] : sn, st);
}

#define CHANGED(count, type, root) rf_apply_change(&call, count, type, root, NULL)
#define TYPE MPI_Datatype
#define INTS const int*

#define BLOCK_ARGS const void *s, int sn, TYPE st, void *r, int rn, TYPE rt
int wrap_MPI_Allgather(BLOCK_ARGS, MPI_Comm c) {
  struct rf_call call;
  rf_block(&call, RF_OP_ALL_GATHER, c, s, sn, st, rn, rt, WHERE);
  RF_RETURN_CALL(&call, c, (CHANGED(&sn, &st, NULL), NEXT(MPI_Allgather)(s, sn, st, r, rn, rt, c)));
}
int wrap_MPI_Iallgather(BLOCK_ARGS, MPI_Comm c, MPI_Request* q) {
  struct rf_call call;
  rf_block(&call, RF_OP_ALL_GATHER, c, s, sn, st, rn, rt, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q,
                     (CHANGED(&sn, &st, NULL), NEXT(MPI_Iallgather)(s, sn, st, r, rn, rt, c, q)));
}
int wrap_MPI_Alltoall(BLOCK_ARGS, MPI_Comm c) {
  struct rf_call call;
  rf_block(&call, RF_OP_ALL_TO_ALL, c, s, sn, st, rn, rt, WHERE);
  RF_RETURN_CALL(&call, c, (CHANGED(&sn, &st, NULL), NEXT(MPI_Alltoall)(s, sn, st, r, rn, rt, c)));
}
int wrap_MPI_Ialltoall(BLOCK_ARGS, MPI_Comm c, MPI_Request* q) {
  struct rf_call call;
  rf_block(&call, RF_OP_ALL_TO_ALL, c, s, sn, st, rn, rt, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q, (CHANGED(&sn, &st, NULL), NEXT(MPI_Ialltoall)(s, sn, st, r, rn, rt, c, q)));
}
int wrap_MPI_Gather(BLOCK_ARGS, int root, MPI_Comm c) {
  struct rf_call call;
  rf_gather(&call, RF_OP_GATHER, c, s, sn, st, rn, rt, NULL, root, WHERE);
  RF_RETURN_CALL(&call, c, (CHANGED(&sn, &st, &root), NEXT(MPI_Gather)(s, sn, st, r, rn, rt, root, c)));
}
int wrap_MPI_Igather(BLOCK_ARGS, int root, MPI_Comm c, MPI_Request* q) {
  struct rf_call call;
  rf_gather(&call, RF_OP_GATHER, c, s, sn, st, rn, rt, NULL, root, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q,
                     (CHANGED(&sn, &st, &root), NEXT(MPI_Igather)(s, sn, st, r, rn, rt, root, c, q)));
}
int wrap_MPI_Scatter(BLOCK_ARGS, int root, MPI_Comm c) {
  struct rf_call call;
  rf_scatter(&call, RF_OP_SCATTER, c, sn, st, NULL, r, rn, rt, root, WHERE);
  RF_RETURN_CALL(
      &call, c,
      (CHANGED(&rn, &rt, &root), CHANGED(&sn, &st, NULL), NEXT(MPI_Scatter)(s, sn, st, r, rn, rt, root, c)));
}
int wrap_MPI_Iscatter(BLOCK_ARGS, int root, MPI_Comm c, MPI_Request* q) {
  struct rf_call call;
  rf_scatter(&call, RF_OP_SCATTER, c, sn, st, NULL, r, rn, rt, root, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q,
                     (CHANGED(&rn, &rt, &root), CHANGED(&sn, &st, NULL),
                      NEXT(MPI_Iscatter)(s, sn, st, r, rn, rt, root, c, q)));
}

#define GATHERV_ARGS const void *s, int sn, TYPE st, void *r, INTS rn, INTS rd, TYPE rt
int wrap_MPI_Allgatherv(GATHERV_ARGS, MPI_Comm c) {
  struct rf_call call;
  rf_blocks(&call, RF_OP_ALL_GATHERV, c, s, sn, st, rn, rt, WHERE);
  RF_RETURN_CALL(&call, c, (CHANGED(&sn, &st, NULL), NEXT(MPI_Allgatherv)(s, sn, st, r, rn, rd, rt, c)));
}
int wrap_MPI_Iallgatherv(GATHERV_ARGS, MPI_Comm c, MPI_Request* q) {
  struct rf_call call;
  rf_blocks(&call, RF_OP_ALL_GATHERV, c, s, sn, st, rn, rt, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q,
                     (CHANGED(&sn, &st, NULL), NEXT(MPI_Iallgatherv)(s, sn, st, r, rn, rd, rt, c, q)));
}
int wrap_MPI_Gatherv(GATHERV_ARGS, int root, MPI_Comm c) {
  struct rf_call call;
  rf_gather(&call, RF_OP_GATHERV, c, s, sn, st, 0, rt, rn, root, WHERE);
  RF_RETURN_CALL(&call, c, (CHANGED(&sn, &st, &root), NEXT(MPI_Gatherv)(s, sn, st, r, rn, rd, rt, root, c)));
}
int wrap_MPI_Igatherv(GATHERV_ARGS, int root, MPI_Comm c, MPI_Request* q) {
  struct rf_call call;
  rf_gather(&call, RF_OP_GATHERV, c, s, sn, st, 0, rt, rn, root, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q,
                     (CHANGED(&sn, &st, &root), NEXT(MPI_Igatherv)(s, sn, st, r, rn, rd, rt, root, c, q)));
}

#define SCATTERV_ARGS const void *s, INTS sn, INTS sd, TYPE st, void *r, int rn, TYPE rt
int wrap_MPI_Scatterv(SCATTERV_ARGS, int root, MPI_Comm c) {
  struct rf_call call;
  rf_scatter(&call, RF_OP_SCATTERV, c, 0, st, sn, r, rn, rt, root, WHERE);
  RF_RETURN_CALL(&call, c, (CHANGED(&rn, &rt, &root), NEXT(MPI_Scatterv)(s, sn, sd, st, r, rn, rt, root, c)));
}
int wrap_MPI_Iscatterv(SCATTERV_ARGS, int root, MPI_Comm c, MPI_Request* q) {
  struct rf_call call;
  rf_scatter(&call, RF_OP_SCATTERV, c, 0, st, sn, r, rn, rt, root, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q,
                     (CHANGED(&rn, &rt, &root), NEXT(MPI_Iscatterv)(s, sn, sd, st, r, rn, rt, root, c, q)));
}

#define ALLTOALLV_ARGS const void *s, INTS sn, INTS sd, TYPE st, void *r, INTS rn, INTS rd, TYPE rt
int wrap_MPI_Alltoallv(ALLTOALLV_ARGS, MPI_Comm c) {
  struct rf_call call;
  rf_all_to_all(&call, RF_OP_ALL_TO_ALLV, c, s, sn, st, rn, rt, NULL, WHERE);
  RF_RETURN_CALL(&call, c, NEXT(MPI_Alltoallv)(s, sn, sd, st, r, rn, rd, rt, c));
}
int wrap_MPI_Ialltoallv(ALLTOALLV_ARGS, MPI_Comm c, MPI_Request* q) {
  struct rf_call call;
  rf_all_to_all(&call, RF_OP_ALL_TO_ALLV, c, s, sn, st, rn, rt, NULL, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q, NEXT(MPI_Ialltoallv)(s, sn, sd, st, r, rn, rd, rt, c, q));
}

#define ALLTOALLW_ARGS \
  const void *s, INTS sn, INTS sd, const TYPE *st, void *r, INTS rn, INTS rd, const TYPE *rt
int wrap_MPI_Alltoallw(ALLTOALLW_ARGS, MPI_Comm c) {
  struct rf_call call;
  rf_all_to_all(&call, RF_OP_ALL_TO_ALLW, c, s, sn, RF_NO_HANDLE, rn, RF_NO_HANDLE, rt, WHERE);
  RF_RETURN_CALL(&call, c, NEXT(MPI_Alltoallw)(s, sn, sd, st, r, rn, rd, rt, c));
}
int wrap_MPI_Ialltoallw(ALLTOALLW_ARGS, MPI_Comm c, MPI_Request* q) {
  struct rf_call call;
  rf_all_to_all(&call, RF_OP_ALL_TO_ALLW, c, s, sn, RF_NO_HANDLE, rn, RF_NO_HANDLE, rt, WHERE);
  RF_RETURN_ENQUEUED(&call, c, q, NEXT(MPI_Ialltoallw)(s, sn, sd, st, r, rn, rd, rt, c, q));
}

/* Prepared: `i` are hints. */
#define ON MPI_Comm c, MPI_Info i, MPI_Request *q
RF_PERSISTENT(Allgather_init, (BLOCK_ARGS, ON),
              rf_block(&call, RF_OP_ALL_GATHER, c, s, sn, st, rn, rt, WHERE), (s, sn, st, r, rn, rt, c, i, q))
RF_PERSISTENT(Alltoall_init, (BLOCK_ARGS, ON), rf_block(&call, RF_OP_ALL_TO_ALL, c, s, sn, st, rn, rt, WHERE),
              (s, sn, st, r, rn, rt, c, i, q))
RF_PERSISTENT(Gather_init, (BLOCK_ARGS, int root, ON),
              rf_gather(&call, RF_OP_GATHER, c, s, sn, st, rn, rt, NULL, root, WHERE),
              (s, sn, st, r, rn, rt, root, c, i, q))
RF_PERSISTENT(Scatter_init, (BLOCK_ARGS, int root, ON),
              rf_scatter(&call, RF_OP_SCATTER, c, sn, st, NULL, r, rn, rt, root, WHERE),
              (s, sn, st, r, rn, rt, root, c, i, q))
RF_PERSISTENT(Allgatherv_init, (GATHERV_ARGS, ON),
              rf_blocks(&call, RF_OP_ALL_GATHERV, c, s, sn, st, rn, rt, WHERE),
              (s, sn, st, r, rn, rd, rt, c, i, q))
RF_PERSISTENT(Gatherv_init, (GATHERV_ARGS, int root, ON),
              rf_gather(&call, RF_OP_GATHERV, c, s, sn, st, 0, rt, rn, root, WHERE),
              (s, sn, st, r, rn, rd, rt, root, c, i, q))
RF_PERSISTENT(Scatterv_init, (SCATTERV_ARGS, int root, ON),
              rf_scatter(&call, RF_OP_SCATTERV, c, 0, st, sn, r, rn, rt, root, WHERE),
              (s, sn, sd, st, r, rn, rt, root, c, i, q))
RF_PERSISTENT(Alltoallv_init, (ALLTOALLV_ARGS, ON),
              rf_all_to_all(&call, RF_OP_ALL_TO_ALLV, c, s, sn, st, rn, rt, NULL, WHERE),
              (s, sn, sd, st, r, rn, rd, rt, c, i, q))
RF_PERSISTENT(Alltoallw_init, (ALLTOALLW_ARGS, ON),
              rf_all_to_all(&call, RF_OP_ALL_TO_ALLW, c, s, sn, RF_NO_HANDLE, rn, RF_NO_HANDLE, rt, WHERE),
              (s, sn, sd, st, r, rn, rd, rt, c, i, q))
