// rank_children: the processes that a rank itself started: its loaders, loggers, compilers.
#pragma once

#include <string>
#include <vector>

#include "harness/base/process_tree.h"

namespace rankfault {

// Living descendants of `pid` whose name (/proc/PID/comm) matches the pattern; oldest first.
std::vector<ProcStat> helpers_of(int pid, const std::string& pattern);

// What happened to a process that was signalled while it lived. If its parent reaped it before we looked,
// only SIGKILL, which no process survives, is known to have ended it. kUnseen: it ended in an unknown way.
enum class HelperEnd { kLives, kBySignal, kOtherwise, kUnseen };
HelperEnd end_of_helper(int pid, uint64_t start, int signal);

}  // namespace rankfault
