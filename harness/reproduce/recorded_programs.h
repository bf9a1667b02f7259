// recorded_programs: the calls of each rank of a case, cut so that all ranks begin at the same place.
//
// A recording holds the newest calls of each rank, so it begins at another place on each. What only some
// ranks have at its begin is left out: collectives by their places, complete messages by their numbers on
// each channel.
#pragma once

#include <vector>

#include "harness/reproduce/replay.h"

namespace rankfault {

// By rank. Calls without a group or a peer that is known are left out; waits of all kinds are "wait".
std::vector<RankProgram> recorded_programs(const Case&);

inline bool is_message(const CaseCall& call) {
  return call.op == "send" || call.op == "ssend" || call.op == "recv";
}
inline bool is_wait(const CaseCall& call) { return call.op.starts_with("wait") || call.op == "stream_wait"; }

}  // namespace rankfault
