// end_times: how far the recorded times of ends and failures may be from the events themselves.
#pragma once

#include "harness/base/time.h"

namespace rankfault {

// If two processes ended within this time, their order is unknown: a launcher ends all the others within
// milliseconds, and a process takes as long to end.
constexpr TimeNs kTogether = 5'000'000;
// A process closes its connections, and its peers' calls fail, at most this long before its end is seen.
constexpr TimeNs kSeenLate = 50'000'000;

}  // namespace rankfault
