// findings_from_stacks: compares several looks at the stacks of a job's ranks and finds the ranks outside the
// call that the others are in. A pure function. Its findings are always inferred, because a stack does not
// show what comes next. A rank that uses CPU time counts as running. Only a rank that sleeps at the same
// place at every look and uses no CPU time is reported as stuck.
#pragma once

#include <vector>

#include "harness/diagnose/finding.h"
#include "harness/evidence/evidence.h"

namespace rankfault {

struct StackLooks {
  std::vector<std::vector<RankEvidence>> looks;  // oldest first; every look has an entry for each rank
  int world_size = 0;                            // 0 unknown
  Duration during{0};                            // from the first look to the last
};

// slow_rank: the rank runs outside the call; stuck_outside: it sleeps there. `none` only if every rank goes
// on: each was seen running or at different places, because a rank that stays at one place may hang.
// `cannot_say` also if all are in one call, or nothing could be read. Blames the smaller side, and no rank on
// a tie.
Findings odd_ranks(const StackLooks&);

}  // namespace rankfault
