// chmod: gives segments of the job that match `path` the permissions `mode`. The end of the run restores
// them.
#include <fmt/format.h>
#include <sys/stat.h>

#include "harness/inject/change_files.h"

namespace rankfault {
namespace {

std::string words(const Action& action) { return fmt::format("chmod {:04o} {}", action.mode, action.path); }

Result<std::string> perform(ActContext& act) {
  return change_segments(act, "mode_changed", [&](const JobFile& file) {
    Status noted = act.run->undo.restore_mode({file.dev, file.ino, 0}, file.mode & 07777u, file.path);
    if (!noted) return noted;
    return changed(file, ::chmod(file.path.c_str(), static_cast<mode_t>(act.action->mode)));
  });
}

const Registration<ExternalAct> kRegistration{{
    .name = "chmod",
    .needs_file_calls = true,
    .words = words,
    .perform = perform,
}};

}  // namespace
}  // namespace rankfault
