// joining: ranks that make a communicator of NCCL and are not through: no call of it names who is missing.
#pragma once

#include <vector>

#include "harness/diagnose/view.h"

namespace rankfault {

struct Joining {
  const Process* process;
  const Call* call;  // the initialisation
};

// Living ranks whose newest call is an initialisation of NCCL that they are inside of; or one of a
// non-blocking communicator, which returns at once, of which some member was never seen.
std::vector<Joining> joining_nccl(const JobView&);

}  // namespace rankfault
