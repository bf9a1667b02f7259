// window: a timeline as a look shows it when only the newest calls of each lane are kept, as in a job that
// has run for long.
#pragma once

#include <cstdint>
#include <random>

#include "harness/observe/timeline.h"

namespace rankfault::testing {

Timeline windowed(Timeline, uint64_t calls);

// Draws the size: all calls, or so few (4 to 64) that some are missing.
uint64_t random_window(std::mt19937_64& random);

}  // namespace rankfault::testing
