// end_times: how far the times of ends and of failures may stand from what they are of.
#pragma once

#include "harness/base/time.h"

namespace rankfault {

// Of two processes that ended within it nobody knows which one was first: a launcher ends all the others
// within milliseconds, and processes take as long to end.
constexpr TimeNs kTogether = 5'000'000;
// A process closes its connections, and its peers' calls fail, at most so long before its end is seen.
constexpr TimeNs kSeenLate = 50'000'000;

}  // namespace rankfault
