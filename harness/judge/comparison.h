// comparison: one judgement over the runs of all variants of a scenario: each by itself, and all together.
#pragma once

#include "harness/judge/oracle.h"

namespace rankfault {

struct JudgedVariant {
  VariantRun run;
  Judgement judgement;
};

// Pure. Over no run: unknown. What holds of all runs is told once; what does not, of the first where it is
// worst.
Judgement judge_comparison(const std::vector<JudgedVariant>&);

}  // namespace rankfault
