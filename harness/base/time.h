// Times: every time in the harness is CLOCK_MONOTONIC nanoseconds since boot, as in the records.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace rankfault {

using Duration = std::chrono::nanoseconds;
using TimeNs = uint64_t;  // CLOCK_MONOTONIC; comparable with every record on this host

TimeNs now_ns();

// "1.5s", "200ms", "2m", "10us": a number with a unit (ns us ms s m h); no unit is an error.
Result<Duration> parse_duration(std::string_view text);
std::string to_text(Duration);  // the shortest of these forms, at most three digits: "1.25s"

}  // namespace rankfault
