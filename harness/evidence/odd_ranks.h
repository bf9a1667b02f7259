// odd_ranks: from the stacks of a job's ranks, taken a few times: who is outside of the call that the others
// are in. Pure. Always inferred: a stack does not say what comes next. A rank that uses CPU time runs,
// whatever for; only one that sleeps at the same place, at every look and without any, is told as stuck.
#pragma once

#include <vector>

#include "harness/diagnose/finding.h"
#include "harness/evidence/evidence.h"

namespace rankfault {

struct StackLooks {
  std::vector<std::vector<RankEvidence>> looks;  // the oldest first; one of each rank in every look
  int world_size = 0;                            // 0 unknown
  Duration during{0};                            // from the first look to the last
};

// slow_rank: it runs outside of the call; stuck_outside: it sleeps there. `none` only while every rank goes
// on: each was seen to run, or at different places; one that stays where it is may hang. `cannot_say` also
// when all are in one call, or nothing could be read. Blames the smaller side, and nobody on a tie.
Findings odd_ranks(const StackLooks&);

}  // namespace rankfault
