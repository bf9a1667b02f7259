#include "harness/diagnose/model/needs.h"

namespace rankfault {
namespace {

using Kind = Needs::Kind;
using Who = Needs::Who;

Needs nobody() { return {}; }
Needs unknown() {
  Needs n;
  n.kind = Kind::kUnknown;
  return n;
}

Needs everyone(int me, int size) {
  const bool alone = size == 0 || (size == 1 && me == 0);
  return {alone ? Kind::kNobody : Kind::kAll, Who::kOthers, me, size, -1, 0};
}

Needs one(int rank, int me, int size) {
  if (rank < 0 || rank >= size) return unknown();
  return rank == me ? nobody() : Needs{Kind::kAll, Who::kOne, me, size, rank, 0};
}

Needs lower_than(int me) { return {me > 0 ? Kind::kAll : Kind::kNobody, Who::kLower, me, me, -1, 0}; }

Needs masked(uint64_t mask, int me, int size) {
  if (me >= 0 && me < 64) mask &= ~(uint64_t{1} << me);
  if (size < 64) mask &= (uint64_t{1} << size) - 1;
  return {mask ? Kind::kAll : Kind::kNobody, Who::kMasked, me, size, -1, mask};
}

bool moves_no_bytes(const Call& c) {
  return c.count() == 0 && !(c.flags() & (RF_CALL_COUNT_UNKNOWN | RF_CALL_RANK_LOCAL)) &&
         c.op() != RF_OP_BARRIER && (is_collective(c.op()));
}

bool is_v_form(uint16_t op) {
  return op == RF_OP_ALL_GATHERV || op == RF_OP_GATHERV || op == RF_OP_ALL_TO_ALLV || op == RF_OP_ALL_TO_ALLW;
}

// The ranks that owe this rank bytes: by the mask; without a mask, all ranks if all shares are equal.
Needs owed(const Call& c, int me, int size) {
  if (c.flags() & RF_CALL_OWN_SHARE_0) return nobody();
  if ((c.flags() & RF_CALL_MASK_VALID) && (c.open() || c.mask_known()))
    return masked(c.needs_mask(), me, size);
  if (is_v_form(c.op()) || (c.flags() & (RF_CALL_RANK_LOCAL | RF_CALL_COUNT_UNKNOWN))) return unknown();
  return everyone(me, size);
}

}  // namespace

bool Needs::certainly(int rank) const {
  if (kind != Kind::kAll || rank < 0 || rank >= size || rank == me) return false;
  switch (who) {
    case Who::kOthers:
    case Who::kLower:
      return true;
    case Who::kOne:
      return rank == one;
    case Who::kMasked:
      return rank < 64 && (mask >> rank & 1);
  }
  return false;
}

Needs needs_of(const Call& c, int me, uint32_t comm_size, uint32_t comm_flags) {
  const int size = static_cast<int>(comm_size);
  if (c.traits().runs_on_streams && !is_collective(c.op())) return nobody();
  if ((comm_flags & RF_COMM_INTER) || size == 0) return unknown();
  if (moves_no_bytes(c)) return nobody();
  switch (op_need(c.op())) {
    case RF_NEED_NOBODY:
      return nobody();
    case RF_NEED_EVERYONE:
      return c.flags() & RF_CALL_COUNT_UNKNOWN && c.op() == RF_OP_ALL_REDUCE ? unknown() : everyone(me, size);
    case RF_NEED_EVERYONE_IF_ROOT:
      if (c.flags() & RF_CALL_COUNT_UNKNOWN) return unknown();
      return c.peer() == me ? everyone(me, size) : nobody();
    case RF_NEED_ROOT_UNLESS_ROOT:
      if (c.flags() & RF_CALL_OWN_SHARE_0 || c.peer() == me) return nobody();
      return c.flags() & RF_CALL_COUNT_UNKNOWN ? unknown() : one(c.peer(), me, size);
    case RF_NEED_OWED:
      return owed(c, me, size);
    case RF_NEED_OWED_IF_ROOT:
      return c.peer() == me ? owed(c, me, size) : nobody();
    case RF_NEED_OWED_REDUCED:
      if (c.flags() & RF_CALL_OWN_SHARE_0) return nobody();
      return c.flags() & RF_CALL_COUNT_UNKNOWN ? unknown() : everyone(me, size);
    case RF_NEED_LOWER_RANKS:
      return c.flags() & RF_CALL_COUNT_UNKNOWN ? unknown() : lower_than(me);
    default:
      return unknown();  // messages.h handles messages; the caller follows requests
  }
}

Needs needs_of(const Call& c, const Member& caller, const CommGroup& group) {
  if (c.traits().runs_on_streams && caller.process->has_streams()) return nobody();
  return needs_of(c, caller.rank, group.size, group.flags);
}

}  // namespace rankfault
