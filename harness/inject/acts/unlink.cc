// unlink: removes the names of files of the job that match `path`: in /dev/shm, or below its TMPDIR.
#include <unistd.h>

#include "harness/inject/change_files.h"

namespace rankfault {
namespace {

std::string words(const Action& action) { return "unlink " + action.path; }

Status unlink_segment(const JobFile& file) { return changed(file, ::unlink(file.path.c_str())); }

Result<std::string> perform(ActContext& act) {
  if (is_of_segments(*act.action)) return change_segments(act, "segment_gone", unlink_segment);
  return change_run_files(act, unlink_file);
}

const Registration<ExternalAct> kRegistration{{
    .name = "unlink",
    .needs_file_calls = true,
    .words = words,
    .perform = perform,
}};

}  // namespace
}  // namespace rankfault
