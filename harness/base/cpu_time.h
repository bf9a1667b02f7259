// cpu_time: the CPU time that a process and its helpers have used.
#pragma once

#include "harness/base/time.h"

namespace rankfault {

// Returns the CPU time of the process and all its present descendants; 0: no such process. A rank that waits
// for helpers (data loaders, a compiler) is as busy as they are. The value falls when a helper ends.
Duration cpu_time_with_helpers(int pid);

Duration thread_cpu_time();  // of the calling thread

}  // namespace rankfault
