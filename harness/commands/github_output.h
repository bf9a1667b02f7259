// github_output: what `run --github` writes for GitHub Actions: annotations, and the summary of the job.
#pragma once

#include "harness/session/session.h"

namespace rankfault {

// Prints the annotations, and appends the summary to the file that $GITHUB_STEP_SUMMARY names. Without that
// variable the summary goes to standard output, too.
Status write_for_github(const SessionResult&);

}  // namespace rankfault
