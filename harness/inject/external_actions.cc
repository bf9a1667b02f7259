// external_actions: the actions that the harness performs itself, most of them while the victim waits at the
// gate: signals, limits and changes of files.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "harness/base/process_tree.h"
#include "harness/inject/injector.h"
#include "harness/inject/job_files.h"
#include "harness/inject/limits.h"
#include "harness/inject/rank_children.h"
#include "harness/inject/run_files.h"
#include "harness/inject/stale_segment.h"
#include "harness/launch/guardian/file_id.h"
#include "harness/plan/describe_plan.h"

namespace rankfault {

Result<std::string> Injector::act(const Action& action, const ProcessId& process, int rank,
                                  rf_gate_slot* slot) {
  Json intent = base(action, process, rank);
  switch (action.outside) {
    case ExternalAction::kSignal:
    case ExternalAction::kContinue: {
      const int signal = action.outside == ExternalAction::kContinue ? SIGCONT : action.signal;
      intent["what"] = fmt::format("SIG{} to pid {}", ::sigabbrev_np(signal), process.pid);
      journal_.write("fault_intent", std::move(intent));
      return send_signal(action, process, signal);
    }
    case ExternalAction::kUnlink:
    case ExternalAction::kTruncate:
    case ExternalAction::kChmod:
    case ExternalAction::kFlipBit:
      intent["what"] = "harm " + action.path;
      journal_.write("fault_intent", std::move(intent));
      return action.path.starts_with('/') ? harm_files(action, slot) : harm_run_files(action);
    case ExternalAction::kSignalHelper:
      intent["what"] = fmt::format("SIG{} to a helper of pid {}", ::sigabbrev_np(action.signal), process.pid);
      journal_.write("fault_intent", std::move(intent));
      return signal_helper(action, process, rank);
    case ExternalAction::kKillLauncher:
    case ExternalAction::kKillNode:
      intent["what"] =
          fmt::format("SIG{} to the launcher of pid {}", ::sigabbrev_np(action.signal), process.pid);
      journal_.write("fault_intent", std::move(intent));
      return kill_launcher(action, process, rank);
    case ExternalAction::kLeaveStale:
      intent["what"] = "leave a segment under " + action.path;
      journal_.write("fault_intent", std::move(intent));
      return leave_stale(action, slot);
    case ExternalAction::kLimit:
    case ExternalAction::kUnlimit:
      intent["what"] =
          fmt::format("{} {} of pid {}", to_text(action.outside), resource_name(action.mode), process.pid);
      journal_.write("fault_intent", std::move(intent));
      return action.outside == ExternalAction::kLimit ? limit(action, process, rank)
                                                      : unlimit(action, process, rank);
    case ExternalAction::kLoad:
      intent["what"] = fmt::format("{} busy processes on each core of pid {}", action.size, process.pid);
      journal_.write("fault_intent", std::move(intent));
      return load(action, process, rank);
    case ExternalAction::kUnload:
      return unload(action);
    case ExternalAction::kWatch:
    case ExternalAction::kStart:  // the launcher or the guardian acted long before
    case ExternalAction::kMount:
    case ExternalAction::kNone:
      break;
  }
  return refused("the action does nothing outside the victim");
}

// Signals through a pidfd, and compares the start time after the pidfd is open: never signals a reused pid.
Result<std::string> Injector::send_signal(const Action& action, const ProcessId& process, int signal) {
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (!pidfd.valid()) return errno_error(fmt::format("pidfd_open {}", process.pid));
  if (const Status ours = is_ours(process); !ours) return ours.error();
  if (signal == SIGSTOP) {
    if (const Status noted = undo_.add(fmt::format("continue {} {}", process.pid, process.start)); !noted)
      return noted.error();
  }
  if (::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0) != 0)
    return errno_error(fmt::format("signal {} to pid {}", signal, process.pid));
  if (action.outside == ExternalAction::kSignal || action.outside == ExternalAction::kKillNode)
    signals_[process] = {signal, now_ns()};
  return fmt::format("SIG{} sent to pid {}", ::sigabbrev_np(signal), process.pid);
}

// The helper descends from the victim now, and send_signal identifies it by pidfd and start time: no other
// process is signalled.
Result<std::string> Injector::signal_helper(const Action& action, const ProcessId& process, int rank) {
  const std::vector<ProcStat> helpers = helpers_of(process.pid, action.path);
  if (helpers.size() < static_cast<size_t>(action.size))
    return refused(fmt::format("pid {} has {} helpers named {}", process.pid, helpers.size(), action.path));
  const ProcStat& stat = helpers[static_cast<size_t>(action.size) - 1];
  ProcessId helper = process;
  helper.pid = stat.pid;
  helper.start = stat.start;
  Result<std::string> sent = send_signal(action, helper, action.signal);
  // No process outlives SIGKILL. A helper may handle another signal, so that watch ends after 2 s.
  const TimeNs until = action.signal == SIGKILL ? UINT64_MAX : now_ns() + 2'000'000'000;
  if (sent) watched_.push_back({&action, process, rank, 'Z', until, helper});
  return sent;
}

Status Injector::is_ours(const ProcessId& process) const {
  const auto stat = proc_stat(process.pid);
  if (!stat || stat->start != process.start)
    return refused(fmt::format("pid {} is another process now", process.pid));
  if (!descendants_of(guardian_pid_).count(process.pid))
    return refused(fmt::format("pid {} does not descend from this run's guardian", process.pid));
  return Done{};
}

// The limit belongs to the process and ends with it: the end of the run has nothing to undo.
Result<std::string> Injector::limit(const Action& action, const ProcessId& process, int rank) {
  if (const Status ours = is_ours(process); !ours) return ours.error();
  if (limits_.count({process, action.mode}))
    return refused(fmt::format("{} of pid {} is limited already", resource_name(action.mode), process.pid));
  const Result<SetLimit> set = limit_to_use(process.pid, action.mode, static_cast<uint64_t>(action.size));
  if (!set) return set.error();
  limits_[{process, action.mode}] = *set;
  Json line = base(action, process, rank);
  line["what"] = "limited";
  line["resource"] = resource_name(action.mode);
  line["in_use"] = set->in_use;
  line["limit"] = set->limit;
  line["before"] = limit_text(set->before);
  line["time"] = now_ns();
  journal_.write("fault_effect", std::move(line));
  return fmt::format("{} of pid {} is {}", resource_name(action.mode), process.pid, set->limit);
}

Result<std::string> Injector::unlimit(const Action& action, const ProcessId& process, int rank) {
  if (const Status ours = is_ours(process); !ours) return ours.error();
  const auto found = limits_.find({process, action.mode});
  if (found == limits_.end()) return refused("nothing was limited");
  const SetLimit set = found->second;
  limits_.erase(found);
  if (const Status restored = restore_limit(process.pid, action.mode, set); !restored)
    return restored.error();
  Json line = base(action, process, rank);
  line["what"] = "unlimited";
  line["time"] = now_ns();
  journal_.write("fault_effect", std::move(line));
  return fmt::format("{} of pid {} is {} again", resource_name(action.mode), process.pid,
                     limit_text(set.before));
}

Result<std::string> Injector::harm_files(const Action& action, rf_gate_slot* slot) {
  // A victim that waits at an attach or an open names the file. Otherwise the pattern names the files.
  std::string pattern = action.path;
  if (slot && slot->path[0] && (slot->op == RF_OP_SHM_ATTACH || slot->op == RF_OP_FILE_OPEN))
    pattern.assign(slot->path, ::strnlen(slot->path, sizeof slot->path));
  const std::vector<JobFile> files = job_files(pattern, guardian_pid_, page_->run_started_ns);
  if (files.empty()) return refused("no file of this job matches " + pattern);
  std::string names;
  for (const JobFile& file : files) {
    if (action.outside == ExternalAction::kChmod) {
      const Status noted = undo_.add(
          fmt::format("restore-mode {} {} {:o} {}", file.dev, file.ino, file.mode & 07777, file.path));
      if (!noted) return noted.error();
    }
    int rc = 0;
    if (action.outside == ExternalAction::kUnlink) rc = ::unlink(file.path.c_str());
    if (action.outside == ExternalAction::kTruncate) rc = ::truncate(file.path.c_str(), action.size);
    if (action.outside == ExternalAction::kChmod)
      rc = ::chmod(file.path.c_str(), static_cast<mode_t>(action.mode));
    if (rc != 0) return errno_error("change " + file.path);
    names += (names.empty() ? "" : " ") + file.path;
    journal_.write("fault_effect",
                   {{"fault", action.fault},
                    {"action", action.id},
                    {"what", action.outside == ExternalAction::kUnlink     ? "segment_gone"
                             : action.outside == ExternalAction::kTruncate ? "segment_truncated"
                                                                           : "mode_changed"},
                    {"path", file.path},
                    {"time", now_ns()}});
  }
  return names;
}

// Takes the name from the call at the gate: a pattern is not a name. With size -1, the segment replaces the
// job's own segment of that name.
Result<std::string> Injector::leave_stale(const Action& action, rf_gate_slot* slot) {
  if (!slot || !slot->path[0]) return refused("the call at the gate names no segment");
  const std::string path(slot->path, ::strnlen(slot->path, sizeof slot->path));
  Status left = Done{};
  if (action.size < 0) {
    const std::vector<JobFile> own = job_files(path, guardian_pid_, page_->run_started_ns);
    if (own.empty()) return refused(path + " is not a segment of this job");
    left = replace_segment(path, own[0].size, action.mode, undo_);
  } else {
    left = leave_segment(path, action.size, action.mode, undo_);
  }
  if (!left) return left.error();
  journal_.write("fault_effect", {{"fault", action.fault},
                                  {"action", action.id},
                                  {"what", action.size < 0 ? "segment_replaced" : "segment_left"},
                                  {"path", path},
                                  {"time", now_ns()}});
  return path;
}

// The files in the job's TMPDIR are removed with it at the end: there is nothing to undo.
Result<std::string> Injector::harm_run_files(const Action& action) {
  std::string names;
  const bool own = std::any_of(plan_.actions.begin(), plan_.actions.end(),
                               [](const Action& a) { return a.outside == ExternalAction::kMount; });
  const std::string seen_from = own ? fmt::format("/proc/{}/root", guardian_pid_) : "";
  for (RunFile& file : run_files(job_tmp_, action.path, page_->run_started_ns, seen_from)) {
    Status harmed = Done{};
    if (action.outside == ExternalAction::kUnlink) harmed = unlink_file(file);
    if (action.outside == ExternalAction::kTruncate) harmed = truncate_file(file, action.size);
    if (action.outside == ExternalAction::kFlipBit) harmed = flip_bit(file, action.size, action.mode);
    if (!harmed) return harmed.error();
    struct statx st {};
    const bool known = ::statx(file.file.get(), "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &st) == 0;
    const rf_file_id id = rf_id_of_file(&st);
    names += (names.empty() ? "" : " ") + file.path;
    journal_.write("fault_effect", {{"fault", action.fault},
                                    {"action", action.id},
                                    {"what", "file_harmed"},
                                    {"path", file.path},
                                    {"inode", known ? id.ino : 0},
                                    {"born", known ? id.born : 0},
                                    {"time", now_ns()}});
  }
  if (names.empty()) return refused("no file below the job's TMPDIR matches " + action.path);
  return names;
}

}  // namespace rankfault
