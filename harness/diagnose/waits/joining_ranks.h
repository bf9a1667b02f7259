// joining_ranks: finds ranks that wait in an initialisation or gave up in one. The call itself does not name
// the missing ranks.
#pragma once

#include <vector>

#include "harness/diagnose/model/view.h"

namespace rankfault {

struct Joining {
  const Process* process;
  const Call* call;  // the initialisation
  Instant until;     // when the rank gave up; the time of the look if it still waits
  bool gave_up;
};

// Returns the ranks whose newest communication call is an initialisation of their library (RF_OP_INIT) that
// did not succeed: they are inside it, left it with an error, or exited inside it. It omits a rank that
// another process ended by a signal, because that rank did not give up.
std::vector<Joining> joining(const JobView&);

// The same for a communicator of NCCL, also inside the end of a group that contains the initialisation. A
// non-blocking initialisation returns at once; it counts if some member was never seen.
std::vector<Joining> joining_nccl(const JobView&);

// The same for a group that its library numbers (new_group of PyTorch). It omits ranks that gave up.
std::vector<Joining> joining_numbered(const JobView&);

}  // namespace rankfault
