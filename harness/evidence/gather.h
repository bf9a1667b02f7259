// gather: the evidence of a process of the job, taken now.
#pragma once

#include "harness/base/process_id.h"
#include "harness/base/time.h"
#include "harness/evidence/evidence.h"
#include "harness/symbols/places.h"

namespace rankfault {

struct GatherOptions {
  Duration stacks{500'000'000};    // how long the threads of one process may be held, all together
  Duration python{5'000'000'000};  // how long py-spy may take for one process
};

// Only for processes that the job made or the user named. Nothing of them is changed: while a stack is read
// its thread is stopped for a moment, by ptrace and without a signal. nullopt-like: kRefused when the process
// is gone, or the pid is another process by now.
Result<RankEvidence> gather(int pid, uint64_t start, int rank, Places& places, const GatherOptions& = {});

}  // namespace rankfault
