// cuda_folder: the folder in which the ranks of one attempt meet over the double of CUDA, and what the folder
// holds after the attempt.
#pragma once

#include "harness/journal/journal.h"
#include "harness/launch/launcher.h"

namespace rankfault {

// Does nothing for a job that does not run over the double.
Status open_cuda_folder(const LaunchContext&);
// Journals one line for each process that launched kernels whose results the double does not compute. The
// double left these facts in the folder.
void journal_not_computed(const LaunchContext&, Journal&);

}  // namespace rankfault
