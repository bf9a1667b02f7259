#include "harness/inject/change_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "harness/launch/guardian/file_id.h"

namespace rankfault {
namespace {

// A victim that waits at an attach or an open names the file. Otherwise the pattern names the files.
std::string pattern_of(const ActContext& act) {
  const bool named = act.op_at_gate == RF_OP_SHM_ATTACH || act.op_at_gate == RF_OP_FILE_OPEN;
  return named && !act.path_at_gate.empty() ? act.path_at_gate : act.action->path;
}

void add_name(std::string& names, const std::string& name) { names += (names.empty() ? "" : " ") + name; }

// Where the job has file systems of its own: the root as its guardian sees it.
std::string seen_from(const ActRun& run) {
  const bool own = std::any_of(run.plan.actions.begin(), run.plan.actions.end(),
                               [](const Action& action) { return action.outside == kMountAct; });
  return own ? fmt::format("/proc/{}/root", run.guardian_pid) : "";
}

}  // namespace

Result<std::string> change_segments(const ActContext& act, const char* what,
                                    const std::function<Status(const JobFile&)>& change) {
  act.intend("harm " + act.action->path);
  const std::string pattern = pattern_of(act);
  const auto files = job_files(pattern, act.run->guardian_pid, instant_of(act.run->page->run_started_ns));
  if (files.empty()) return refused("no file of this job matches " + pattern);
  std::string names;
  for (const JobFile& file : files) {
    if (const Status done = change(file); !done) return done.error();
    add_name(names, file.path);
    act.file_effect(what, file.path);
  }
  return names;
}

// The files in the job's TMPDIR are removed with it at the end: there is nothing to undo.
Result<std::string> change_run_files(const ActContext& act, const std::function<Status(RunFile&)>& change) {
  act.intend("harm " + act.action->path);
  std::string names;
  for (RunFile& file : run_files(act.run->job_tmp, act.action->path,
                                 instant_of(act.run->page->run_started_ns), seen_from(*act.run))) {
    if (const Status done = change(file); !done) return done.error();
    struct statx st {};
    const bool known = ::statx(file.file.get(), "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &st) == 0;
    const rf_file_id id = rf_id_of_file(&st);
    add_name(names, file.path);
    events::FaultEffect more;
    more.inode = known ? id.ino : 0;
    more.born = known ? id.born : 0;
    act.file_effect("file_harmed", file.path, more);
  }
  if (names.empty()) return refused("no file below the job's TMPDIR matches " + act.action->path);
  return names;
}

Status changed(const JobFile& file, int rc) {
  if (rc != 0) return errno_error("change " + file.path);
  return Done{};
}

}  // namespace rankfault
