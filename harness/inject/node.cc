#include "harness/inject/node.h"

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

}  // namespace rankfault
