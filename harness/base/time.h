// Times: every instant in the harness is CLOCK_MONOTONIC, as in the records.
//
// Records, packets of the guardian and JSON files hold unsigned nanoseconds. instant_of(), duration_of() and
// ns_of() convert them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace rankfault {

using namespace std::chrono_literals;  // 50ms

using Duration = std::chrono::nanoseconds;

// Nanoseconds since boot; comparable with every record on this host.
struct HostClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<HostClock>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept;
};
using Instant = HostClock::time_point;  // Instant{}: not known, or it has not happened

inline constexpr Instant kEndOfTime = Instant::max();  // later than every instant; nothing is added to it

constexpr bool is_known(Instant at) { return at != Instant{}; }

constexpr uint64_t ns_of(Duration span) { return static_cast<uint64_t>(span.count()); }
constexpr uint64_t ns_of(Instant at) { return ns_of(at.time_since_epoch()); }

// 146 years. A larger number in a file is damaged and becomes this one: a sum of two does not overflow.
inline constexpr Duration kLongestDuration{(int64_t{1} << 62) - 1};
constexpr Duration duration_of(uint64_t ns) { return Duration(std::min(ns, ns_of(kLongestDuration))); }
constexpr Instant instant_of(uint64_t ns) { return Instant(duration_of(ns)); }

// From one instant to the other; 0 if `to` is earlier.
constexpr Duration lasted(Instant from, Instant to) { return std::max(to - from, Duration::zero()); }

// "1.5s", "200ms", "2m", "10us": a number with a unit (ns us ms s m h); no unit is an error.
Result<Duration> parse_duration(std::string_view text);
std::string to_text(Duration);  // the shortest of these forms, at most three digits: "1.25s"

}  // namespace rankfault
