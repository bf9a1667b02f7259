// flip_bit: flips bit `mode` of the byte at `size` of files below the job's TMPDIR that match `path`. A
// negative `size` counts from the end.
#include <fmt/format.h>

#include "harness/inject/change_files.h"

namespace rankfault {
namespace {

std::string words(const Action& action) {
  return fmt::format("flip bit {} of byte {} of {}", action.mode, action.size, action.path);
}

Result<std::string> perform(ActContext& act) {
  return change_run_files(act,
                          [&](RunFile& file) { return flip_bit(file, act.action->size, act.action->mode); });
}

const Registration<ExternalAct> kRegistration{{
    .name = "flip_bit",
    .words = words,
    .perform = perform,
}};

}  // namespace
}  // namespace rankfault
