// cut: a recorded run at an instant when each rank had reached its own point: what a look at that instant
// would have shown. A rank cut before its end counts as alive.
//
// A cut holds only what a record holds. The masks of ranks that owe bytes, and the requests of a wait, are
// only in the state page. A cut therefore knows fewer needs than the live look did, and never more.
#pragma once

#include <random>

#include "harness/observe/timeline.h"

namespace rankfault::testing {

// `kept[i]`: the number of records of process i that have happened.
Timeline cut(const Timeline& whole, const std::vector<size_t>& kept);

// Draws random points: each process is anywhere, at the edge of a call near the others, or at its end.
std::vector<size_t> random_points(const Timeline& whole, std::mt19937_64& random);

// Draws one instant for all processes: what a look shows that reads twice and finds the same (the assumption
// one_look). A claim about an instant, had_not_entered, is made on such cuts alone.
std::vector<size_t> points_of_one_instant(const Timeline& whole, std::mt19937_64& random);

}  // namespace rankfault::testing
