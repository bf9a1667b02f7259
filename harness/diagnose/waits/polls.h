// polls: finds ranks that wait by polling (MPI_Test, MPI_Iprobe), and calls that are known only by their
// names (MPI-IO, one-sided communication, PyTorch's store).
#pragma once

#include <vector>

#include "harness/diagnose/proof/proof.h"

namespace rankfault {

// Whether one of the process's threads polled a moment ago without success.
bool polls(const Process&, Instant look);

// Returns the call that all members make, that is known only by its name, and that the process is in now;
// null: none.
const Call* in_call_of_all(const Process&);
const Call* in_call_of_all(const Member&);  // the same, on that communicator
// Whether the process is in no call whose needs are known: it runs its own code, or a call known only by its
// name.
bool is_outside(const Process&);

// Returns the edges of such calls of all members that have lasted longer than `longer_than`: they wait for
// each member that is in none of them.
std::vector<WaitEdge> waits_by_name(const JobView&, const Process& awaited, Duration longer_than);

}  // namespace rankfault
