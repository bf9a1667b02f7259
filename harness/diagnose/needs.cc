// needs: see needs.h.
#include "harness/diagnose/needs.h"

#include <algorithm>

namespace rankfault {
namespace {

using Kind = Needs::Kind;

Needs nobody() { return {}; }
Needs unknown() { return {Kind::kUnknown, {}}; }

Needs everyone(int me, int size) {
  Needs n{Kind::kAll, {}};
  for (int r = 0; r < size; ++r)
    if (r != me) n.ranks.push_back(r);
  if (n.ranks.empty()) n.kind = Kind::kNobody;
  return n;
}

Needs one(int rank, int me, int size) {
  if (rank < 0 || rank >= size) return unknown();
  return rank == me ? nobody() : Needs{Kind::kAll, {rank}};
}

Needs lower_than(int me) {
  Needs n{me > 0 ? Kind::kAll : Kind::kNobody, {}};
  for (int r = 0; r < me; ++r) n.ranks.push_back(r);
  return n;
}

Needs masked(uint64_t mask, int me, int size) {
  Needs n{Kind::kAll, {}};
  for (int r = 0; r < size && r < 64; ++r)
    if (r != me && (mask >> r & 1)) n.ranks.push_back(r);
  if (n.ranks.empty()) n.kind = Kind::kNobody;
  return n;
}

bool moves_no_bytes(const Call& c) {
  return c.count == 0 && !(c.flags & (RF_CALL_COUNT_UNKNOWN | RF_CALL_RANK_LOCAL)) && c.op != RF_OP_BARRIER &&
         (is_collective(c.op));
}

bool is_v_form(uint16_t op) {
  return op == RF_OP_ALL_GATHERV || op == RF_OP_GATHERV || op == RF_OP_ALL_TO_ALLV || op == RF_OP_ALL_TO_ALLW;
}

// Who owes this rank bytes: by the mask; without one, everybody in the forms of equal shares.
Needs owed(const Call& c, int me, int size) {
  if (c.flags & RF_CALL_OWN_SHARE_0) return nobody();
  if ((c.flags & RF_CALL_MASK_VALID) && c.open()) return masked(c.needs_mask, me, size);
  if (is_v_form(c.op) || (c.flags & (RF_CALL_RANK_LOCAL | RF_CALL_COUNT_UNKNOWN))) return unknown();
  return everyone(me, size);
}

}  // namespace

bool Needs::certainly(int rank) const {
  return kind == Kind::kAll && std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

Needs needs_of(const Call& c, int me, uint32_t comm_size, uint32_t comm_flags) {
  const int size = static_cast<int>(comm_size);
  if (c.library == RF_LIB_NCCL) return nobody();  // the host call; its stream entry is another matter
  if ((comm_flags & RF_COMM_INTER) || size == 0) return unknown();
  if (moves_no_bytes(c)) return nobody();
  switch (op_need(c.op)) {
    case RF_NEED_NOBODY:
      return nobody();
    case RF_NEED_EVERYONE:
      return c.flags & RF_CALL_COUNT_UNKNOWN && c.op == RF_OP_ALL_REDUCE ? unknown() : everyone(me, size);
    case RF_NEED_EVERYONE_IF_ROOT:
      if (c.flags & RF_CALL_COUNT_UNKNOWN) return unknown();
      return c.peer == me ? everyone(me, size) : nobody();
    case RF_NEED_ROOT_UNLESS_ROOT:
      if (c.flags & RF_CALL_OWN_SHARE_0 || c.peer == me) return nobody();
      return c.flags & RF_CALL_COUNT_UNKNOWN ? unknown() : one(c.peer, me, size);
    case RF_NEED_OWED:
      return owed(c, me, size);
    case RF_NEED_OWED_IF_ROOT:
      return c.peer == me ? owed(c, me, size) : nobody();
    case RF_NEED_OWED_REDUCED:
      if (c.flags & RF_CALL_OWN_SHARE_0) return nobody();
      return c.flags & RF_CALL_COUNT_UNKNOWN ? unknown() : everyone(me, size);
    case RF_NEED_LOWER_RANKS:
      return c.flags & RF_CALL_COUNT_UNKNOWN ? unknown() : lower_than(me);
    default:
      return unknown();  // of messages see messages.h; requests are followed by the caller
  }
}

}  // namespace rankfault
