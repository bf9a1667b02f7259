// same_words: whether two readings of a process agree in every word a proof may use; and the order
// and selection of processes in a Timeline.
#pragma once

#include "harness/observe/timeline.h"

namespace rankfault {

bool same_words(const ProcessView&, const ProcessView&);

// Leaves out processes without a rank and images replaced by exec; orders; fills attempt,
// world_size (never smaller than given) and job_over.
void arrange(Timeline&);

}  // namespace rankfault
