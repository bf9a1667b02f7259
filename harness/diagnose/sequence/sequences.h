// sequences: finds where the members of one communicator stop making the same calls in the same order.
#pragma once

#include <string>
#include <vector>

#include "harness/diagnose/proof/proof.h"
#include "harness/diagnose/sequence/align.h"

namespace rankfault {

// Returns the first argument in which two calls at one position differ; "" if they are compatible: "op",
// "blocking", "dtype", "count", "root", "reduce_op".
std::string difference(const Call&, const Call&);

// Whether `to` takes what `from` sends, a message or a share of a collective, as another type that the
// standard forbids there (MPI 4.1, 3.3.1) but every library carries out. difference() is "" for such a pair.
bool tolerated_type(const Call& from, const Call& to);

// The calls of several members at one place. If each call fits the first, they need not fit each other: bytes
// fit any type, and each call of a gather fits another sender. So a call is compared with all the others,
// once for those that look the same. The object is valid up to the first difference, because it adds calls
// that fit.
class CallsAtOnePlace {
 public:
  std::string difference_from(const Call&) const;  // "": the call fits all
  std::string add(const Call&);                    // the same

 private:
  struct Kind {
    const Call* example;
    bool several;  // two calls that look the same were compared with each other
  };
  std::vector<Kind> kinds_;
};

struct Divergence {
  const CommGroup* group = nullptr;
  uint64_t seq = 0;           // position of the first disagreement
  bool pairs_differ = false;  // two different calls are at that position; else some members did not come
  std::string field;          // of the first difference
  std::vector<const Member*> majority;  // larger side; on a tie the one with the lowest rank
  std::vector<const Member*> minority;  // all other members that are part of it
  bool tie = false;
  bool all_differ = false;      // three members or more, and no two of them made the same call
  bool lone_root = false;       // the minority is the root of a rooted call that no other member entered
  Alignment alignment;          // of the first member of the minority against the majority
  uint64_t from = 0, to = 0;    // seq of the missing, extra or changed call
  const Call* named = nullptr;  // an example of that call
  Instant at;                   // when the sequences began to differ
};

// Returns the member's first call at or after a position that has not returned success; null: none.
const Call* first_unfinished(const Member&, uint64_t from_seq);

// Whether the member aborted or revoked the communicator while a call of its own on it was unfinished. The
// member had waited for others itself, so it did not omit the calls that they made after that call.
bool gave_up_on(const Member&);

// Whether one of the divergences says that this process omitted a call.
bool is_blamed_in(const std::vector<Divergence>&, const Process&);

// At most one for each communicator: the first. JobView::divergences() caches them.
inline const std::vector<Divergence>& divergences(const JobView& job) { return job.divergences(); }

}  // namespace rankfault
