// strict_replay: replays the calls of a finished job in the strictest way that MPI allows.
//
// MPI 4.1, 3.5 and 6.14: a standard send may wait for its receive, and every collective may wait for all its
// members; a program must not rely on either. So in the replay each send except a buffered one completes when
// its receive has started, and each collective when all members have started it. A nonblocking call holds its
// rank only in its wait. If a call cannot continue in the replay, it continued in the job because the library
// buffered a message or let a rank leave a collective early.
//
// The replay covers the recorded calls only. It returns nothing if another run may make other calls or pair
// them differently: after a receive from any source, a poll, a wait for one of several, calls from several
// threads, or a failed call; and if a record is not whole. Where the standard leaves more open, the call
// counts as not waiting: neighbour collectives, MPI_Comm_free, MPI_Finalize, MPI_Buffer_detach.
#pragma once

#include <optional>
#include <vector>

#include "harness/diagnose/model/view.h"

namespace rankfault {

// One rank of the cycle: the call that it would be in, and the call that another rank would have to make for
// it.
struct StrictWait {
  const CommGroup* group = nullptr;
  const Member* waiter = nullptr;
  const Call* in = nullptr;       // a blocking call, or a wait for `because`
  const Call* because = nullptr;  // the call that would not complete
  const Member* partner = nullptr;
  const Call* needed = nullptr;  // a call that the partner would make only after its own wait of this cycle
};

// Each waits for the next, the last for the first. Empty: everything completes. None if the record does not
// determine the answer.
std::optional<std::vector<StrictWait>> strict_cycle(const JobView&);

}  // namespace rankfault
