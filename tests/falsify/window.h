// window: a timeline as a look shows it when of each lane only the newest calls are kept, as in a job that
// has run for long.
#pragma once

#include <cstdint>
#include <random>

#include "harness/observe/timeline.h"

namespace rankfault::testing {

Timeline windowed(Timeline, uint64_t calls);

// All calls, or so few of them that something is missing: 4 to 64.
uint64_t random_window(std::mt19937_64& random);

}  // namespace rankfault::testing
