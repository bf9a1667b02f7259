// pace: how much longer than the others one rank takes in its own code between calls, by the calls that all
// made.
#pragma once

#include <string>

#include "harness/diagnose/view.h"

namespace rankfault {

// "; before their last 20 calls there it took 2.5 times as long as the others" (their median), from 1.5 times
// on and with calls enough to say so; else "". Calls in progress do not count: the same text at every look at
// a wait.
std::string pace_told(const CommGroup&, const Process&);

}  // namespace rankfault
