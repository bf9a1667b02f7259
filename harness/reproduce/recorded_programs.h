// recorded_programs: the calls of each rank of a case, cut so that all ranks begin at the same place.
//
// A recording holds the newest calls of each rank, so it begins at another place on each. What only some
// ranks have at its begin is left out: collectives by their places, complete messages by their numbers on
// each channel.
#pragma once

#include <vector>

#include "harness/reproduce/replay.h"

namespace rankfault {

// By rank, of a folded case. Calls whose group or peer is not known are left out, and waits for which no
// pending call is left; waits of all kinds are "wait".
std::vector<RankProgram> recorded_programs(const Case&);

}  // namespace rankfault
