// sequences: where the members of one communicator stop making the same calls in the same order.
#pragma once

#include <string>
#include <vector>

#include "harness/diagnose/align.h"
#include "harness/diagnose/proof.h"

namespace rankfault {

// The first argument in which two calls at one position are not the same call; "" when compatible:
// "op", "blocking", "dtype", "count", "root", "reduce_op".
std::string difference(const Call&, const Call&);

// Whether `to` takes what `from` sends, a message or a share of a collective, as another type that the
// standard forbids there (MPI 4.1, 3.3.1) and every library carries out: difference() is "" for the pair.
bool tolerated_type(const Call& from, const Call& to);

// The calls of several members at one place. That each fits the first does not mean that they fit each other:
// bytes fit any type, and of a gather each fits another sender. So a call is compared with all, those that
// look the same once. It is used up to the first difference: calls that fit are added.
class CallsAtOnePlace {
 public:
  std::string difference_from(const Call&) const;  // "": it fits all
  std::string add(const Call&);                    // the same

 private:
  struct Kind {
    const Call* example;
    bool several;  // two that look the same were compared with each other
  };
  std::vector<Kind> kinds_;
};

struct Divergence {
  const CommGroup* group = nullptr;
  uint64_t seq = 0;                     // position of the first disagreement
  bool pairs_differ = false;            // two different calls stand there; else some did not come
  std::string field;                    // of the first difference
  std::vector<const Member*> majority;  // larger side; on a tie the one with the lowest rank
  std::vector<const Member*> minority;  // everybody else who is part of it
  bool tie = false;
  bool all_differ = false;      // three members or more, and no two of them made the same call
  bool lone_root = false;       // the minority is the root of a rooted call that nobody else entered
  Alignment alignment;          // of the first of the minority against the majority
  uint64_t from = 0, to = 0;    // seq of the call left out, added or changed
  const Call* named = nullptr;  // an example of that call
  TimeNs at = 0;                // when it began to differ
};

// The member's first call at or after a position that has not returned success; null: none.
const Call* first_unfinished(const Member&, uint64_t from_seq);

// It aborted or revoked the communicator with a call of its own on it unfinished: it had waited for others
// itself, and what they made after that call it did not leave out.
bool gave_up_on(const Member&);

// Whether one of them says that this process left a call out.
bool told_by(const std::vector<Divergence>&, const Process&);

// At most one for each communicator: the first. JobView::divergences() keeps them.
inline const std::vector<Divergence>& divergences(const JobView& job) { return job.divergences(); }

}  // namespace rankfault
