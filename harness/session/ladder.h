// ladder: one scenario at several world sizes, one run each: from which size on does it fail?
#pragma once

#include "harness/session/session.h"

namespace rankfault {

struct Rung {
  int ranks = 0;
  std::string refused;  // "": it was run; else why the scenario cannot be at this size
  UnitResult unit;
};

struct LadderResult {
  std::vector<Rung> rungs;  // from the smallest size up; without those an interrupt left out
  int exit_code = 0;        // as of several scenarios; a refused size counts for nothing

  const Rung* first_failure() const;  // the smallest size whose outcome is not as it must be; null
};

// Launches nothing before every size was planned. An error where no size can be.
Result<LadderResult> run_ladder(const Scenario&, std::vector<int> sizes, const RunFunction&,
                                const SessionOptions&);

}  // namespace rankfault
