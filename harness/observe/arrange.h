// arrange: orders and selects the processes of a Timeline, and decides which of them are ranks.
#pragma once

#include "harness/observe/timeline.h"

namespace rankfault {

// Leaves out processes without a rank, and images of a process that say nothing about it. Marks helpers,
// orders the processes, and fills attempt, world_size (never lowered) and job_over.
void arrange(Timeline&);

}  // namespace rankfault
