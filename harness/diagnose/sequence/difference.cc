// difference: decides whether two calls at one position of a communicator are the same call for their
// library: equal type signatures in the arguments that matter for the role.
#include "harness/diagnose/sequence/sequences.h"

namespace rankfault {
namespace {

constexpr uint16_t kNoCount = RF_CALL_COUNT_UNKNOWN | RF_CALL_RANK_LOCAL | RF_CALL_IN_PLACE;

bool counts_by_design_equal(const Call& c) {
  switch (c.op()) {
    case RF_OP_ALL_REDUCE:
    case RF_OP_BROADCAST:
    case RF_OP_REDUCE:
    case RF_OP_ALL_GATHER:
    case RF_OP_REDUCE_SCATTER_BLOCK:
    case RF_OP_ALL_TO_ALL:
    case RF_OP_SCAN:
    case RF_OP_EXSCAN:
      return true;
    case RF_OP_GATHER:
    case RF_OP_SCATTER:  // recorded as one block on all ranks; in other libraries the root counts all blocks
    case RF_OP_REDUCE_SCATTER:  // recorded as the sum of all blocks
      return c.traits().counts_blocks;
    default:
      return false;  // v-forms
  }
}

bool has_root(uint16_t op) {
  return op == RF_OP_BROADCAST || op == RF_OP_REDUCE || op == RF_OP_GATHER || op == RF_OP_GATHERV ||
         op == RF_OP_SCATTER || op == RF_OP_SCATTERV;
}

bool only_width(uint8_t dtype) { return dtype >= RF_DTYPE_BYTES2 && dtype <= RF_DTYPE_BYTES16; }

bool dtypes_differ(uint8_t a, uint8_t b) {
  if (a == b || a == RF_DTYPE_OTHER || b == RF_DTYPE_OTHER) return false;
  if (only_width(a) || only_width(b)) return dtype_bytes(a) != dtype_bytes(b);
  return true;
}

bool reduces(uint16_t op) {
  return op == RF_OP_ALL_REDUCE || op == RF_OP_REDUCE || op == RF_OP_REDUCE_SCATTER ||
         op == RF_OP_REDUCE_SCATTER_BLOCK || op == RF_OP_SCAN || op == RF_OP_EXSCAN;
}

// Returns the kind of an element: one kind for all integers and bytes, whatever their width and sign.
uint8_t made_of(uint8_t dtype) {
  switch (dtype) {
    case RF_DTYPE_INT8:
    case RF_DTYPE_UINT8:
    case RF_DTYPE_INT16:
    case RF_DTYPE_UINT16:
    case RF_DTYPE_INT32:
    case RF_DTYPE_UINT32:
    case RF_DTYPE_INT64:
    case RF_DTYPE_UINT64:
    case RF_DTYPE_BOOL:
      return RF_DTYPE_BYTE;
    case RF_DTYPE_COMPLEX64:
      return RF_DTYPE_FLOAT32;
    case RF_DTYPE_COMPLEX128:
      return RF_DTYPE_FLOAT64;
    default:
      return dtype;
  }
}

bool carry_alike(uint8_t a, uint8_t b) {
  return !dtypes_differ(a, b) || made_of(a) == made_of(b) || a == RF_DTYPE_BYTE || b == RF_DTYPE_BYTE;
}

// The standard forbids this pair (MPI 4.1, 3.3.1: MPI_BYTE matches MPI_BYTE alone), but every library moves
// the same bytes to the same places. types.c is equally lenient about what a rank takes from itself.
bool moves_the_same(const Call& a, const Call& b) {
  return !reduces(a.op()) && a.bytes() == b.bytes() && carry_alike(a.dtype(), b.dtype());
}

bool has_takers(const Call& c) {
  switch (c.op()) {
    case RF_OP_ALL_GATHER:
    case RF_OP_ALL_GATHERV:
    case RF_OP_GATHER:
    case RF_OP_GATHERV:
    case RF_OP_SCATTER:
    case RF_OP_SCATTERV:
    case RF_OP_ALL_TO_ALL:
    case RF_OP_ALL_TO_ALLV:
      return c.traits().records_taken_type;
    default:
      return false;
  }
}

// Whether `to` gets any data from `from`, as far as the two records show.
bool gives(const Call& from, const Call& to) {
  switch (from.op()) {
    case RF_OP_SCATTER:
    case RF_OP_SCATTERV:  // the root's record has no taken type
      return !(from.tag() & RF_TAKEN_KNOWN) && to.count() != 0;
    case RF_OP_ALL_TO_ALLV:  // a record does not have each count
      return from.tag() & RF_TAKEN_KNOWN && (from.tag() & RF_SENDS_TO_EACH || to.tag() & RF_TAKES_FROM_EACH);
    default:
      return from.count() != 0;
  }
}

// Compares the type that one rank sends with the type that another takes. It never compares two senders: a
// rank may take the shares of both as bytes. It compares nothing where the record lacks the taken type.
bool gives_another_type(const Call& from, const Call& to) {
  const auto taken = static_cast<uint8_t>(to.tag() & RF_TAKEN_DTYPE);
  if (!(to.tag() & RF_TAKEN_KNOWN) || !gives(from, to) || !dtypes_differ(from.dtype(), taken)) return false;
  const bool blocks = counts_by_design_equal(from) && from.bytes() != to.bytes();
  return blocks || !carry_alike(from.dtype(), taken);
}

bool takes_differ(const Call& a, const Call& b) {
  if ((a.flags() | b.flags()) & RF_CALL_COUNT_UNKNOWN) return false;
  return gives_another_type(a, b) || gives_another_type(b, a);
}

// An in-place all_reduce has the usual count. In the gathering operations the count may be of another buffer.
bool comparable_count(const Call& c) {
  const bool same_in_place = c.op() == RF_OP_ALL_REDUCE || c.op() == RF_OP_SCAN || c.op() == RF_OP_EXSCAN ||
                             c.op() == RF_OP_REDUCE || c.op() == RF_OP_BROADCAST || c.op() == RF_OP_GATHER ||
                             c.op() == RF_OP_SCATTER || c.op() == RF_OP_REDUCE_SCATTER;
  const uint16_t in_place_matters = same_in_place ? 0 : RF_CALL_IN_PLACE;
  return counts_by_design_equal(c) && !(c.flags() & ((kNoCount & ~RF_CALL_IN_PLACE) | in_place_matters));
}

}  // namespace

std::string difference(const Call& a, const Call& b) {
  if (a.op() != b.op()) return "op";
  // MPI 4.1, 6.12: "nonblocking collective operations cannot match blocking" ones. Elsewhere they can.
  if (a.traits().nonblocking_apart && is_collective(a.op()) &&
      ((a.flags() ^ b.flags()) & RF_CALL_NONBLOCKING))
    return "blocking";
  if (has_takers(a) && takes_differ(a, b)) return "dtype";
  if (comparable_count(a) && comparable_count(b)) {
    if (!has_takers(a) && dtypes_differ(a.dtype(), b.dtype()) && !moves_the_same(a, b) && a.count() != 0 &&
        b.count() != 0)
      return "dtype";
    if (a.bytes() != b.bytes()) return "count";
  }
  if (has_root(a.op()) && a.peer() != b.peer() && a.peer() >= 0 && b.peer() >= 0) return "root";
  if (a.reduce_op() != b.reduce_op() && a.reduce_op() != RF_REDUCE_OTHER && b.reduce_op() != RF_REDUCE_OTHER)
    return "reduce_op";
  return "";
}

bool tolerated_type(const Call& from, const Call& to) {
  if (!from.traits().types_must_match || ((from.flags() | to.flags()) & RF_CALL_COUNT_UNKNOWN)) return false;
  if (from.op() == RF_OP_SEND || from.op() == RF_OP_SSEND)
    return dtypes_differ(from.dtype(), to.dtype()) && from.bytes() == to.bytes() && from.count() != 0 &&
           carry_alike(from.dtype(), to.dtype());
  if (!difference(from, to).empty()) return false;
  const auto taken = static_cast<uint8_t>(to.tag() & RF_TAKEN_DTYPE);
  if (has_takers(from))
    return to.tag() & RF_TAKEN_KNOWN && gives(from, to) && dtypes_differ(from.dtype(), taken);
  return from.op() == RF_OP_BROADCAST && from.count() != 0 && dtypes_differ(from.dtype(), to.dtype());
}

namespace {

// Equal in everything that difference() reads.
bool looks_the_same(const Call& a, const Call& b) {
  const auto count = [](const Call& c) {
    return comparable_count(c) ? c.count() : static_cast<uint64_t>(c.count() != 0);
  };
  return a.op() == b.op() && a.flags() == b.flags() && a.dtype() == b.dtype() && a.tag() == b.tag() &&
         a.peer() == b.peer() && a.reduce_op() == b.reduce_op() && count(a) == count(b);
}

}  // namespace

std::string CallsAtOnePlace::difference_from(const Call& c) const {
  for (const Kind& kind : kinds_)
    if (kind.several && looks_the_same(*kind.example, c)) return "";
  for (const Kind& kind : kinds_)
    if (std::string field = difference(*kind.example, c); !field.empty()) return field;
  return "";
}

std::string CallsAtOnePlace::add(const Call& c) {
  std::string field = difference_from(c);
  for (Kind& kind : kinds_)
    if (looks_the_same(*kind.example, c)) {
      kind.several = true;
      return field;
    }
  kinds_.push_back({&c, false});
  return field;
}

}  // namespace rankfault
