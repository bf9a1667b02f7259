// gather: collects the present evidence of a process of the job.
#pragma once

#include "harness/base/process_id.h"
#include "harness/base/time.h"
#include "harness/evidence/evidence.h"
#include "harness/symbols/places.h"

namespace rankfault {

struct GatherOptions {
  Duration stacks{500'000'000};    // total time for which the threads of one process may be held
  Duration python{5'000'000'000};  // time limit of py-spy for one process
};

// Only for processes that the job created or the user named. It changes nothing in them: while it reads a
// stack, ptrace stops the thread for a moment, without a signal. Returns kRefused if the process is gone or
// the pid is another process by now.
Result<RankEvidence> gather(int pid, uint64_t start, int rank, Places& places, const GatherOptions& = {});

}  // namespace rankfault
