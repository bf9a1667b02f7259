// joining: ranks that wait in an initialisation, or gave up in one; no call of it names the missing ranks.
#pragma once

#include <vector>

#include "harness/diagnose/view.h"

namespace rankfault {

struct Joining {
  const Process* process;
  const Call* call;  // the initialisation
  TimeNs until;      // when the rank gave up; the look while it waits
  bool gave_up;
};

// Ranks whose newest communication call is an initialisation of their library (RF_OP_INIT) that did not
// succeed: they are inside it, or left it with an error, or exited inside it. A rank that somebody else ended
// by a signal did not give up, and is left out.
std::vector<Joining> joining(const JobView&);

// The same of a communicator of NCCL, also inside the end of a group that has the initialisation. A
// non-blocking one returns at once: then some member was never seen.
std::vector<Joining> joining_nccl(const JobView&);

}  // namespace rankfault
