// cpu_time: the CPU time that a process and its helpers have used.
#pragma once

#include <cstdint>

namespace rankfault {

// Returns the CPU time of the process and all its present descendants, in nanoseconds; 0: no such process. A
// rank that waits for helpers (data loaders, a compiler) is as busy as they are. The value falls when a
// helper ends.
uint64_t cpu_ns_with_helpers(int pid);

}  // namespace rankfault
