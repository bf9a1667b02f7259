// no_rank: reports a launcher program that ended before any rank was recorded: how it ended, and the end of
// its log.
#pragma once

#include "harness/journal/journal.h"
#include "harness/launch/launcher.h"
#include "harness/observe/timeline.h"

namespace rankfault {

// Call after the attempt. Journals one line if a launcher program was started and no process of the attempt
// became a rank. `status` is the launcher's status; it is unknown if we ended the launcher.
void journal_no_rank(const LaunchContext&, const Timeline&, const ExitStatus& status, Journal&);

}  // namespace rankfault
