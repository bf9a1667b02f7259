// node: see node.h. Also kills a launcher, alone or with all that it started.
#include "harness/inject/node.h"

#include <fmt/format.h>

#include "harness/inject/injector.h"

namespace rankfault {

std::optional<ProcStat> launcher_of(int pid, int guardian) {
  std::optional<ProcStat> below = proc_stat(pid);
  if (!below || below->parent == guardian) return std::nullopt;
  while (below && below->parent > 1) {
    const std::optional<ProcStat> above = proc_stat(below->parent);
    if (above && above->parent == guardian) return above;
    below = above;
  }
  return std::nullopt;
}

std::vector<ProcStat> started_by(const ProcStat& launcher) {
  std::vector<ProcStat> alive;
  for (const int pid : descendants_of(launcher.pid))
    if (const auto stat = proc_stat(pid); stat && stat->state != 'Z' && stat->state != 'X')
      alive.push_back(*stat);
  return alive;
}

// Kills the launcher first, so that it cannot see its ranks die and report it.
Result<std::string> Injector::kill_launcher(const Action& action, const ProcessId& process, int rank) {
  const std::optional<ProcStat> launcher = launcher_of(process.pid, guardian_pid_);
  if (!launcher) return refused(fmt::format("no launcher program started pid {}", process.pid));
  const std::vector<ProcStat> node =
      action.outside == ExternalAction::kKillNode ? started_by(*launcher) : std::vector<ProcStat>{};
  ProcessId id = process;
  id.image = 0;
  id.pid = launcher->pid;
  id.start = launcher->start;
  Result<std::string> killed = send_signal(action, id, action.signal);
  if (!killed) return killed;
  watched_.push_back({&action, process, rank, 'Z', UINT64_MAX, id});
  size_t others = 0;
  for (const ProcStat& stat : node) {
    id.pid = stat.pid;
    id.start = stat.start;
    if (send_signal(action, id, action.signal)) ++others;  // else it has ended meanwhile
  }
  return node.empty() ? *killed : fmt::format("{} and to the {} processes that it started", *killed, others);
}

}  // namespace rankfault
