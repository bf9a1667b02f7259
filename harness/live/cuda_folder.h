// cuda_folder: where the ranks of one attempt meet over the double of CUDA, and what lies there after it.
#pragma once

#include "harness/launch/launcher.h"
#include "harness/run/journal.h"

namespace rankfault {

// Nothing is done in a job that is not over the double.
Status open_cuda_folder(const LaunchContext&);
// A line for each process in which kernels were launched that compute nothing, as the double left it there.
void journal_not_computed(const LaunchContext&, Journal&);

}  // namespace rankfault
