// ladder: one scenario at several world sizes, one run each: from which size on does it fail?
#pragma once

#include "harness/session/session.h"

namespace rankfault {

struct Rung {
  int ranks = 0;
  std::string refused;  // "": it was run; else why the scenario is not possible at this size
  ScenarioOutcome unit;
};

struct LadderResult {
  std::vector<Rung> rungs;  // from the smallest size up; without those that an interrupt left out
  int exit_code = 0;        // as for several scenarios; a refused size does not count

  const Rung* first_failure() const;  // the smallest size whose outcome is not as expected; null: none
};

// Plans every size before it launches anything. An error when no size is possible.
Result<LadderResult> run_ladder(const Scenario&, std::vector<int> sizes, const RunFunction&,
                                const SessionOptions&);

}  // namespace rankfault
