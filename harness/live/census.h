// census: what the job left behind, taken after its end and before anything is cleaned.
#pragma once

#include <string>
#include <vector>

#include "harness/run/journal.h"
#include "harness/run/run_dir.h"

namespace rankfault {

// Journals one `leftover` line each and one `census` line with the counts. The files are those the
// guardian recorded as the job's own and that still exist under the same (device, inode).
void take_census(const RunDir&, int guardian_pid, Journal&);

}  // namespace rankfault
