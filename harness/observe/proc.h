// proc: what /proc says of a process of the job at a look: evidence for people, never for a proof.
#pragma once

#include "harness/observe/timeline.h"

namespace rankfault {

// Fills `stopped` and each thread lane's thread_state, if the process is still the one recorded.
void read_proc_states(ProcessView&);

}  // namespace rankfault
