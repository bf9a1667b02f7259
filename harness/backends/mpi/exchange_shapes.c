/* exchange_shapes.c: reads the arguments of a gather, a scatter or an all-to-all, and finds the members that
 * owe this rank bytes.
 *
 * `count` is the value that must agree between ranks: the elements of one block. In the v-forms it is this
 * rank's own part and may differ by design (RF_CALL_RANK_LOCAL). `needs_mask` has exactly the members that
 * owe this rank bytes; a rank owes itself nothing that another could withhold. */
#include "shapes.h"

static const struct rf_comm* intra(const struct rf_call* call) {
  const struct rf_comm* const on = call->comm == RF_NO_COMM ? NULL : rf_core->comm_get(call->comm);
  return on && !(on->flags & RF_COMM_INTER) ? on : NULL;
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

/* Each member owes its own count, of one common type or of its own type. */
static void owed_each(struct rf_call* call, struct rf_counts counts, MPI_Datatype type,
                      const MPI_Datatype* types) {
  const struct rf_comm* const on = intra(call);
  if (!on || !rf_has_counts(counts) || on->rank < 0) {
    call->flags |= RF_CALL_COUNT_UNKNOWN;
    return;
  }
  uint64_t mask = 0;
  int anything = 0;
  for (uint32_t r = 0; r < on->size; ++r) {
    if (rf_bytes(rf_count_of(counts, r), types ? types[r] : type) == 0) continue;
    anything = 1;
    if (r < 64 && (int)r != on->rank) mask |= 1ull << r;
  }
  if (!anything) call->flags |= RF_CALL_OWN_SHARE_0;
  if (on->size > 64) return;
  call->needs_mask = mask;
  call->flags |= RF_CALL_MASK_VALID;
}

/* In an intracommunicator a rank is also its own partner: it takes what it sends to itself (MPI 4.1, 6.5 to
 * 6.8). */
static void own_share(struct rf_call* call, int64_t sent, MPI_Datatype st, int64_t taken, MPI_Datatype tt) {
  if (intra(call) && rf_is_unequal(sent, st, taken, tt)) call->flags |= RF_CALL_UNEQUAL;
}

/* Records the type as which this rank takes the shares of others. */
static void takes(struct rf_call* call, MPI_Datatype type) {
  if (intra(call)) call->tag = rf_elements(0, type).dtype | RF_TAKEN_KNOWN;
}

void rf_block(struct rf_call* call, uint16_t op, MPI_Comm c, const void* s, int64_t sn, MPI_Datatype st,
              int64_t rn, MPI_Datatype rt, const void* where) {
  rf_call_on(call, op, c, where);
  const int in_place = s == RF_MPI_IN_PLACE;
  if (in_place) call->flags |= RF_CALL_IN_PLACE;
  rf_set_elements(call, in_place ? rn : sn, in_place ? rt : st);
  owed_by_all(call, rf_bytes(rn, rt));
  takes(call, rt);
  if (!in_place) own_share(call, sn, st, rn, rt);
}

void rf_blocks(struct rf_call* call, uint16_t op, MPI_Comm c, const void* s, int64_t sn, MPI_Datatype st,
               struct rf_counts rn, MPI_Datatype rt, const void* where) {
  rf_call_on(call, op, c, where);
  const struct rf_comm* const on = intra(call);
  call->flags |= RF_CALL_RANK_LOCAL;
  if (s != RF_MPI_IN_PLACE) {
    rf_set_elements(call, sn, st);
    if (on && on->rank >= 0) own_share(call, sn, st, rf_count_of(rn, (uint32_t)on->rank), rt);
  } else {
    call->flags |= RF_CALL_IN_PLACE;
    if (on && on->rank >= 0) rf_set_elements(call, rf_count_of(rn, (uint32_t)on->rank), rt);
  }
  takes(call, rt);
  owed_each(call, rn, rt, NULL);
}

/* A rank takes all data as one type, whichever rank sent it. So its sent and taken types determine the types
 * of the partners that exchange data with it. */
static int32_t taken_of(const struct rf_comm* on, struct rf_counts sn, MPI_Datatype st, struct rf_counts rn,
                        MPI_Datatype rt) {
  const int sends = rf_bytes(1, st) != 0, takes = rf_bytes(1, rt) != 0;
  int32_t tag = rf_elements(0, rt).dtype | RF_TAKEN_KNOWN | RF_SENDS_TO_EACH | RF_TAKES_FROM_EACH;
  for (uint32_t r = 0; r < on->size; ++r) {
    if ((int)r == on->rank) continue;
    if (!sends || rf_count_of(sn, r) <= 0) tag &= ~RF_SENDS_TO_EACH;
    if (!takes || rf_count_of(rn, r) <= 0) tag &= ~RF_TAKES_FROM_EACH;
  }
  return tag;
}

/* All-to-all: the own part is the sum over all destinations; unknown if in place or with several types. */
void rf_all_to_all(struct rf_call* call, uint16_t op, MPI_Comm c, const void* s, struct rf_counts sn,
                   MPI_Datatype st, struct rf_counts rn, MPI_Datatype rt, const MPI_Datatype* rts,
                   const void* where) {
  rf_call_on(call, op, c, where);
  const struct rf_comm* const on = intra(call);
  call->flags |= RF_CALL_RANK_LOCAL;
  if (s == RF_MPI_IN_PLACE) call->flags |= RF_CALL_IN_PLACE;
  if (s == RF_MPI_IN_PLACE || rts || !on || !rf_has_counts(sn)) {
    call->flags |= RF_CALL_COUNT_UNKNOWN;
  } else {
    int64_t total = 0;
    for (uint32_t r = 0; r < on->size; ++r) total += rf_count_of(sn, r);
    rf_set_elements(call, total, st);
    if (rf_has_counts(rn) && op == RF_OP_ALL_TO_ALLV) call->tag = taken_of(on, sn, st, rn, rt);
    if (on->rank >= 0)
      own_share(call, rf_count_of(sn, (uint32_t)on->rank), st, rf_count_of(rn, (uint32_t)on->rank), rt);
  }
  owed_each(call, rn, rt, rts);
}

static int is_root(const struct rf_call* call, int root) {
  const struct rf_comm* const on = intra(call);
  return on && on->rank == root;
}

/* At the root the receive side is significant and, unless in place, also the send side; at other ranks only
 * the send side is read. */
void rf_gather(struct rf_call* call, uint16_t op, MPI_Comm c, const void* s, int64_t sn, MPI_Datatype st,
               int64_t rn, MPI_Datatype rt, struct rf_counts rns, int root, const void* where) {
  rf_call_on(call, op, c, where);
  call->peer = root;
  if (rf_has_counts(rns) || op == RF_OP_GATHERV) call->flags |= RF_CALL_RANK_LOCAL;
  const int at_root = is_root(call, root);
  if (at_root && s == RF_MPI_IN_PLACE) {
    call->flags |= RF_CALL_IN_PLACE;
    rf_set_elements(call, rf_has_counts(rns) ? rf_count_of(rns, (uint32_t)root) : rn, rt);
  } else if (intra(call) || root >= 0) {
    rf_set_elements(call, sn, st);
  }
  if (at_root) takes(call, rt);
  if (at_root && s != RF_MPI_IN_PLACE)
    own_share(call, sn, st, rf_has_counts(rns) ? rf_count_of(rns, (uint32_t)root) : rn, rt);
  if (at_root && rf_has_counts(rns)) owed_each(call, rns, rt, NULL);
  if (at_root && !rf_has_counts(rns)) owed_by_all(call, rf_bytes(rn, rt));
}

void rf_scatter(struct rf_call* call, uint16_t op, MPI_Comm c, int64_t sn, MPI_Datatype st,
                struct rf_counts sns, const void* r, int64_t rn, MPI_Datatype rt, int root,
                const void* where) {
  rf_call_on(call, op, c, where);
  call->peer = root;
  if (op == RF_OP_SCATTERV) call->flags |= RF_CALL_RANK_LOCAL;
  if (!is_root(call, root)) {
    if (!intra(call) && root < 0) return; /* the root's side of an intercommunicator */
    rf_set_elements(call, rn, rt);
    takes(call, rt);
    if (rf_bytes(rn, rt) == 0) call->flags |= RF_CALL_OWN_SHARE_0;
    return;
  }
  if (r == RF_MPI_IN_PLACE) call->flags |= RF_CALL_IN_PLACE;
  if (r != RF_MPI_IN_PLACE)
    own_share(call, rf_has_counts(sns) ? rf_count_of(sns, (uint32_t)root) : sn, st, rn, rt);
  rf_set_elements(call, rf_has_counts(sns) ? rf_count_of(sns, (uint32_t)root) : sn, st);
}
