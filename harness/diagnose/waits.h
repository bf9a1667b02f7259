// waits: who waits for whom now: every open or pending call, and the members that have not come.
#pragma once

#include <vector>

#include "harness/diagnose/proof.h"

namespace rankfault {

// One edge for each (call of a live process that is inside or pending, member that did not enter it),
// needs and those by algorithm; collectives, then messages.
inline const std::vector<WaitEdge>& waits_now(const JobView& job) { return job.waits(); }

// The edges of those who wait for one process, by need.
std::vector<WaitEdge> waiting_for(const std::vector<WaitEdge>& all, const Process&);

// Fills sides, op, comm, seq and evidence from edges on the communicator of the first.
void tell_waiters(Finding&, const JobView&, const std::vector<WaitEdge>&);

}  // namespace rankfault
