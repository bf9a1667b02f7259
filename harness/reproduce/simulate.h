// simulate: performs the programs of ranks by the strictest rules: a collective completes when all members of
// its group are in it, a message when both sides are.
#pragma once

#include <vector>

#include "harness/reproduce/replay.h"

namespace rankfault {

struct Stalled {  // a rank that cannot continue
  int rank = -1;
  const CaseCall* call = nullptr;  // that it is in
  size_t place = 0;                // of the call in its program
  std::vector<int> needs = {};     // ranks that are not in their part of it
};

struct Simulated {
  std::vector<size_t> reached = {};  // by rank: calls that it completed; the size of its program: it finished
  std::vector<Stalled> stalled = {};  // none: all ranks finished
  bool mismatch = false;              // two ranks of a stalled group make different calls at one place
};

Simulated simulate(const std::vector<CaseGroup>&, const std::vector<RankProgram>&);

}  // namespace rankfault
