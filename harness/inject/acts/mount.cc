// mount: the guardian mounts a file system of `size` bytes at `path` for this job alone: at /dev/shm or at a
// name below its TMPDIR. small_folders() of live/live_run.cc gives it to the guardian.
#include <fmt/format.h>

#include "harness/plan/external_act.h"

namespace rankfault {
namespace {

std::string words(const Action& action) {
  return fmt::format("started with a file system of {} bytes at {}", action.size, action.path);
}

const Registration<ExternalAct> kRegistration{{
    .name = kMountAct,
    .when = ActTime::kBeforeTheJob,
    .needs_file_calls = true,
    .words = words,
}};

}  // namespace
}  // namespace rankfault
