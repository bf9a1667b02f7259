// threads: what /proc says of a process and its threads.
#pragma once

#include <string>
#include <vector>

#include "harness/evidence/evidence.h"

namespace rankfault {

std::vector<ThreadEvidence> threads_of(int pid);  // without stacks; the main thread first

}  // namespace rankfault
