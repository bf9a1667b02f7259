// strict_replay: the calls of a finished job, made once more in the strictest way that MPI allows.
//
// MPI 4.1, 3.5 and 6.14: a standard send may wait for its receive, and every collective may wait for all its
// members; a program must not rely on either. So here each send but a buffered one completes when its receive
// was started, and each collective when all members have started it; a nonblocking one holds its rank in its
// wait only. What then cannot go on went on because the library buffered a message, or let a rank leave a
// collective early.
//
// The replay speaks of the recorded calls only. It gives nothing where another run may make other calls, or
// pair them otherwise: after a receive from any source, a poll, a wait for one of several, calls from several
// threads, a failed call; nor where a record is not whole. What the standard leaves open beyond that counts
// as not waiting: neighbour collectives, MPI_Comm_free, MPI_Finalize, MPI_Buffer_detach.
#pragma once

#include <optional>
#include <vector>

#include "harness/diagnose/view.h"

namespace rankfault {

// One rank of the cycle: the call that it would stand in, and the one that would have to be made for it.
struct StrictWait {
  const CommGroup* group = nullptr;
  const Member* waiter = nullptr;
  const Call* in = nullptr;       // a blocking call, or a wait for `because`
  const Call* because = nullptr;  // what would not complete
  const Member* partner = nullptr;
  const Call* needed = nullptr;  // of the partner, who would make it only after its own wait of this cycle
};

// Each waits for the next, the last one for the first; empty: everything completes. None where the record
// does not tell.
std::optional<std::vector<StrictWait>> strict_cycle(const JobView&);

}  // namespace rankfault
