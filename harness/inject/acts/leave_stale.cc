// leave_stale: leaves a segment of `size` bytes of `mode` under the name that the victim is about to use. Of
// size -1: in place of the job's own segment of that name, as large as that one.
#include <fmt/format.h>

#include "harness/inject/act_context.h"
#include "harness/inject/job_files.h"
#include "harness/inject/stale_segment.h"

namespace rankfault {
namespace {

bool replaces(const Action& action) { return action.size < 0; }

std::string words(const Action& action) {
  if (replaces(action)) return "replace " + action.path + " with another file";
  return fmt::format("leave {} bytes of {} under {}", action.size, action.mode, action.path);
}

Status leave(const ActContext& act, const std::string& path) {
  const Action& action = *act.action;
  if (!replaces(action)) return leave_segment(path, action.size, action.mode, act.run->undo);
  const std::vector<JobFile> own =
      job_files(path, act.run->guardian_pid, instant_of(act.run->page->run_started_ns));
  if (own.empty()) return refused(path + " is not a segment of this job");
  return replace_segment(path, own[0].size, action.mode, act.run->undo);
}

// Takes the name from the call at the gate: a pattern is not a name.
Result<std::string> perform(ActContext& act) {
  act.intend("leave a segment under " + act.action->path);
  const std::string& path = act.path_at_gate;
  if (path.empty()) return refused("the call at the gate names no segment");
  if (const Status left = leave(act, path); !left) return left.error();
  act.file_effect(replaces(*act.action) ? "segment_replaced" : "segment_left", path);
  return path;
}

const Registration<ExternalAct> kRegistration{{
    .name = "leave_stale",
    .words = words,
    .perform = perform,
}};

}  // namespace
}  // namespace rankfault
