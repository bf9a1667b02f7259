// threads: reads a process's threads from /proc.
#pragma once

#include <string>
#include <vector>

#include "harness/evidence/evidence.h"

namespace rankfault {

std::vector<ThreadEvidence> threads_of(int pid);  // without stacks; the main thread first

}  // namespace rankfault
