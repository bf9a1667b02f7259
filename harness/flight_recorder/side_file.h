// side_file: a small JSON file next to a dump, with facts for which the dump has no place: rank, host, clock,
// drops.
#pragma once

#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/flight_recorder/dump.h"

namespace rankfault {

// {"version": 1, "rank": 3, "host": "...", "clock_offset_ns": 0, "clock_error_ns": -1, "dropped": 0}
std::string side_to_json(const FrSide& side);
// Unknown keys are left out; absent ones keep their default.
Result<FrSide> side_from_json(std::string_view text);

constexpr size_t kLargestSideFile = size_t{64} << 10;

}  // namespace rankfault
