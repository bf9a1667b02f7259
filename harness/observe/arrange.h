// arrange: the order and selection of processes in a Timeline, and who of them is a rank.
#pragma once

#include "harness/observe/timeline.h"

namespace rankfault {

// Leaves out processes without a rank, and images of a process that say nothing of it; marks helpers; orders;
// fills attempt, world_size (never smaller than given) and job_over.
void arrange(Timeline&);

}  // namespace rankfault
