// process_tree: the present descendants of a process, from /proc.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

namespace rankfault {

struct ProcStat {
  int pid = 0;
  int parent = 0;
  char state = 0;      // R S D T t Z ...
  uint64_t start = 0;  // clock ticks since boot: with the pid, a unique name on this boot
  int exit_code = 0;   // as from waitpid; for a zombie (Z), and only with the right to trace it
  bool dying = false;  // it exits, or a signal that ends it is pending
};

std::optional<ProcStat> proc_stat(int pid);  // nullopt: no such process
std::set<int> descendants_of(int pid);       // without pid itself; with zombies

}  // namespace rankfault
