// helpers: processes that take part in communication and are no ranks of the job.
//
// A rank may start programs that use MPI or torch.distributed themselves (an evaluation, a worker pool). They
// inherit the variables that name the rank, and so claim to be it. A process is a helper when
//   - its world was started by ranks of another one (MPI_Comm_spawn); or
//   - it descends from a process of the job that has peers, and its own world is another, or not known yet
//   while
//     somebody of the job has its rank; or
//   - it has a world without peers, and a job of its descendants has some (a test that starts its ranks).
// Who is in the same world is told by the identities of communicators, never by the environment.
#pragma once

#include "harness/observe/timeline.h"

namespace rankfault {

void mark_helpers(std::vector<ProcessView>&);  // sets ProcessView::helper

}  // namespace rankfault
