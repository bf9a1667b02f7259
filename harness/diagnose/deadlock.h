// deadlock: live ranks of which none can go on, because each waits for one that is among them.
//
// Waits are of two kinds. A collective, a receive from one source and a wait for all requests need every
// one of those they name (AND); a receive from any source and a wait for one of several requests need one
// of them (OR). A cycle is enough only where all are AND. So the ranks that cannot go on are the greatest
// set in which each is held by one that is in the set (AND) or by all of those that would do (OR): a knot.
// OR is never simplified to AND.
#pragma once

#include "harness/diagnose/waits.h"

namespace rankfault {

struct Knot {
  std::vector<WaitEdge> edges;  // enough of them to tell why; a shortest cycle where there is one
  // Who waits where, of all that wait by a wait that may hold them.
  std::vector<std::pair<const CommGroup*, const Member*>> waiters;
};

// The waits by need alone; when these hold nobody, also sends that the library may have to hold back, open
// for longer than is usual: then the edges say so, and nothing is proven by them.
Knot find_knot(const JobView&, const DiagnoseOptions&);

}  // namespace rankfault
