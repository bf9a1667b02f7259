// end_times: how far the recorded times of ends and failures may be from the events themselves.
#pragma once

#include "harness/base/time.h"

namespace rankfault {

// If two processes ended within this time, their order is unknown: a launcher ends all the others within
// milliseconds, and a process takes as long to end.
constexpr Duration kTogether = 5ms;
// A process closes its connections, and its peers' calls fail, at most this long before its end is seen.
constexpr Duration kSeenLate = 50ms;

}  // namespace rankfault
