// helpers: the processes that a rank itself started: its loaders, loggers, compilers.
#pragma once

#include <string>
#include <vector>

#include "harness/base/process_tree.h"

namespace rankfault {

// Descendants of `pid` that live, with a name (/proc/PID/comm) that matches the pattern; oldest first.
std::vector<ProcStat> helpers_of(int pid, const std::string& pattern);

// What became of a process that was signalled while it lived. Its parent may have reaped it before we looked:
// then only SIGKILL, which nobody outlives, is known to have ended it. kUnseen: it ended, nobody knows how.
enum class HelperEnd { kLives, kBySignal, kOtherwise, kUnseen };
HelperEnd end_of_helper(int pid, uint64_t start, int signal);

}  // namespace rankfault
