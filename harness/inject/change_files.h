// change_files: shared by the acts that change files of the job: which files are its own, and what is
// journaled.
#pragma once

#include "harness/inject/act_context.h"
#include "harness/inject/job_files.h"
#include "harness/inject/run_files.h"

namespace rankfault {

// Changes the job's own segments: the one that the victim's call names, else those that match `path`. `what`
// is the effect. Returns their names.
Result<std::string> change_segments(const ActContext&, const char* what,
                                    const std::function<Status(const JobFile&)>& change);

// Changes the files that the job made below its TMPDIR and that match `path`. Returns their names.
Result<std::string> change_run_files(const ActContext&, const std::function<Status(RunFile&)>& change);

// Whether `path` is a pattern in /dev/shm, and not one of names below the job's TMPDIR.
inline bool is_of_segments(const Action& action) { return action.path.starts_with('/'); }

// The status of a system call that returned `rc`.
Status changed(const JobFile&, int rc);

}  // namespace rankfault
