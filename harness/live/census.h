// census: records what the job left behind, after its end and before anything is cleaned.
#pragma once

#include <string>
#include <vector>

#include "harness/journal/journal.h"
#include "harness/live/host_objects.h"
#include "harness/run_dir/run_dir.h"

namespace rankfault {

// The path at which we see the guardian's `path`: where the job has its own /dev/shm, only the guardian sees
// it directly.
std::string as_guardian_sees(int guardian_pid, const std::string& path);

// Journals one `leftover` line for each object, and one `census` line with the count of each kind that was
// looked at. The files are those that the guardian recorded as the job's own and that still exist under the
// same (device, inode). `undo`: see HostObjects::census.
void take_census(const RunDir&, int guardian_pid, HostObjects&, UndoList* undo, Journal&);

}  // namespace rankfault
