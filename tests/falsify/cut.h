// cut: a recorded run as it stood when each rank had come to a point of its own: what a look at such an
// instant would have seen. A rank cut before its end counts as alive.
//
// Only what a record tells is kept: masks of who owes bytes and the requests of a wait are in the state page
// alone, so a cut knows fewer needs than the live look did, never more.
#pragma once

#include <random>

#include "harness/observe/timeline.h"

namespace rankfault::testing {

// `kept[i]`: how many records of process i have happened.
Timeline cut(const Timeline& whole, const std::vector<size_t>& kept);

// Random points: each process anywhere, at a call's edge near the others', or at its end.
std::vector<size_t> random_points(const Timeline& whole, std::mt19937_64& random);

}  // namespace rankfault::testing
