// cpu_time: how much CPU time a process and its helpers have used.
#pragma once

#include <cstdint>

namespace rankfault {

// Of the process and of all that descends from it now, in nanoseconds; 0: there is no such process. A rank
// that waits for helpers (data loaders, a compiler) is as busy as they are. Falls when a helper ends.
uint64_t cpu_ns_with_helpers(int pid);

}  // namespace rankfault
