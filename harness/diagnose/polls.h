// polls: ranks that wait by asking again and again (MPI_Test, MPI_Iprobe), and calls that are known by their
// names alone (MPI-IO, one-sided communication, PyTorch's store).
#pragma once

#include <vector>

#include "harness/diagnose/proof.h"

namespace rankfault {

// One of its threads asked, a moment ago, for what had not come.
bool polls(const Process&, TimeNs look);

// A call that all members make, and that is known by its name alone, in which the process is now; null: none.
const Call* in_call_of_all(const Process&);
const Call* in_call_of_all(const Member&);  // the same, on that communicator
// In no call whose needs are known: its own code runs, or one that is known by its name alone.
bool is_outside(const Process&);

// Whom such calls of all wait for, when they last for longer: each member that is in none of them.
std::vector<WaitEdge> waits_by_name(const JobView&, const Process& awaited, Duration longer_than);

}  // namespace rankfault
