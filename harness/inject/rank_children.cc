#include "harness/inject/rank_children.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <fstream>

namespace rankfault {
namespace {

std::string name_of(int pid) {
  std::ifstream in(fmt::format("/proc/{}/comm", pid));
  std::string name;
  std::getline(in, name);
  return name;
}

}  // namespace

std::vector<ProcStat> helpers_of(int pid, const std::string& pattern) {
  std::vector<ProcStat> found;
  for (const int candidate : descendants_of(pid)) {
    const auto stat = proc_stat(candidate);
    if (!stat || stat->state == 'Z' || stat->state == 'X') continue;
    if (fnmatch(pattern.c_str(), name_of(candidate).c_str(), 0) == 0) found.push_back(*stat);
  }
  std::sort(found.begin(), found.end(), [](const ProcStat& a, const ProcStat& b) {
    return std::pair(a.start, a.pid) < std::pair(b.start, b.pid);
  });
  return found;
}

HelperEnd end_of_helper(int pid, uint64_t start, int signal) {
  const auto stat = proc_stat(pid);
  if (!stat || stat->start != start || stat->state == 'X')
    return signal == SIGKILL ? HelperEnd::kBySignal : HelperEnd::kUnseen;
  if (stat->state != 'Z') return HelperEnd::kLives;
  if (stat->exit_code == 0) return HelperEnd::kUnseen;  // /proc also shows 0 to a reader without permission
  const bool by_it = WIFSIGNALED(stat->exit_code) && WTERMSIG(stat->exit_code) == signal;
  return by_it ? HelperEnd::kBySignal : HelperEnd::kOtherwise;
}

}  // namespace rankfault
