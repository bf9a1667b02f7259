// truncate: truncates files of the job that match `path` to `size` bytes: in /dev/shm, or below its TMPDIR.
#include <fmt/format.h>
#include <unistd.h>

#include "harness/inject/change_files.h"

namespace rankfault {
namespace {

std::string words(const Action& action) {
  return fmt::format("truncate {} to {} bytes", action.path, action.size);
}

Result<std::string> perform(ActContext& act) {
  const int64_t size = act.action->size;
  if (is_of_segments(*act.action))
    return change_segments(act, "segment_truncated", [&](const JobFile& file) {
      return changed(file, ::truncate(file.path.c_str(), size));
    });
  return change_run_files(act, [&](RunFile& file) { return truncate_file(file, size); });
}

const Registration<ExternalAct> kRegistration{{
    .name = "truncate",
    .needs_file_calls = true,
    .words = words,
    .perform = perform,
}};

}  // namespace
}  // namespace rankfault
