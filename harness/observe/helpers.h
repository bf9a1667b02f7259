// helpers: processes that take part in communication but are not ranks of the job.
//
// A rank may start programs that use MPI or torch.distributed themselves (an evaluation, a worker pool). They
// inherit the variables that name the rank, and so claim to be that rank. A process is a helper when
//   - ranks of another world started its world (MPI_Comm_spawn); or
//   - it descends from a process of the job that has peers, its own world is a different one or not known
//     yet, and another process of the job has its rank; or
//   - its world has no peers, and a job of its descendants has some (a test that starts its ranks).
// The identities of communicators tell which processes share a world; the environment never does.
#pragma once

#include "harness/observe/timeline.h"

namespace rankfault {

void mark_helpers(std::vector<ProcessView>&);  // sets ProcessView::helper

}  // namespace rankfault
