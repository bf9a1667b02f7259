// process_tree: who descends from whom, from /proc, at this instant.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

namespace rankfault {

struct ProcStat {
  int pid = 0;
  int parent = 0;
  char state = 0;      // R S D T t Z ...
  uint64_t start = 0;  // clock ticks since boot: with pid, a name for ever on this boot
  int exit_code = 0;   // as of waitpid; of a zombie (Z), and only where we may trace it
  bool dying = false;  // it exits, or a signal that ends it is on its way
};

std::optional<ProcStat> proc_stat(int pid);  // nullopt: no such process
std::set<int> descendants_of(int pid);       // not pid itself; zombies included

}  // namespace rankfault
