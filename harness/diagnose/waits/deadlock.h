// deadlock: finds live ranks that cannot continue because each waits for another rank of the same set.
//
// There are two kinds of wait. A collective, a receive from one source and a wait for all requests need every
// rank that they name (AND). A receive from any source and a wait for one of several requests need one of
// them (OR). A cycle alone is enough only if all its waits are AND. So the ranks that cannot continue are the
// greatest set in which each rank waits for one rank of the set (AND) or all the ranks that could release it
// are in the set (OR): a knot. The code never simplifies OR to AND.
#pragma once

#include "harness/diagnose/waits/waits.h"

namespace rankfault {

struct Knot {
  std::vector<WaitEdge> edges;  // enough edges to explain the knot; a shortest cycle if there is one
  // All ranks of the knot whose waits may hold them, with the communicator of each wait.
  std::vector<std::pair<const CommGroup*, const Member*>> waiters;
};

// First uses only the waits by need. If these form no knot, it adds sends that the library may hold back and
// that have been open for longer than usual. The edges then mark such sends, and they prove nothing.
Knot find_knot(const JobView&, const DiagnoseOptions&);

}  // namespace rankfault
