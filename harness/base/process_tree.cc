#include "harness/base/process_tree.h"

#include <dirent.h>
#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace rankfault {

std::optional<ProcStat> proc_stat(int pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (!file) return std::nullopt;
  char text[1024];
  const size_t n = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[n] = 0;
  // The name in parentheses may contain anything, also ") R 1": the fields start after the last ')'.
  const char* after_name = std::strrchr(text, ')');
  ProcStat stat;
  unsigned long long start = 0;
  unsigned long flags = 0, pending = 0;
  if (!after_name ||
      std::sscanf(
          after_name + 1,
          " %c %d %*d %*d %*d %*d %lu %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu %*u %*d %*u "
          "%*u %*u %*u %*u %*u %lu",
          &stat.state, &stat.parent, &flags, &start, &pending) != 5)
    return std::nullopt;
  // A signal that ends a process becomes SIGKILL for each of its threads (kernel/signal.c, complete_signal).
  constexpr unsigned long kExiting = 4, kKilled = 1ul << (SIGKILL - 1);
  stat.dying = (flags & kExiting) != 0 || (pending & kKilled) != 0;
  stat.pid = pid;
  stat.start = start;
  if (const char* last = std::strrchr(after_name, ' '))
    stat.exit_code = std::atoi(last);  // field 52, the last
  return stat;
}

std::set<int> descendants_of(int pid) {
  std::map<int, std::vector<int>> children;
  if (DIR* proc = ::opendir("/proc")) {
    while (const dirent* entry = ::readdir(proc))
      if (const int candidate = std::atoi(entry->d_name); candidate > 0)
        if (const auto stat = proc_stat(candidate)) children[stat->parent].push_back(candidate);
    ::closedir(proc);
  }
  std::set<int> found;
  std::vector<int> todo{pid};
  while (!todo.empty()) {
    const int parent = todo.back();
    todo.pop_back();
    for (const int child : children[parent])
      if (found.insert(child).second) todo.push_back(child);
  }
  return found;
}

}  // namespace rankfault
