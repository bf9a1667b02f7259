// comparison: one judgement over the runs of all variants of a scenario: each run by itself, and all
// together.
#pragma once

#include "harness/judge/oracle.h"

namespace rankfault {

struct JudgedVariant {
  VariantRun run;
  Judgement judgement;
};

// Pure. Without runs: unknown. A result that holds for all runs is reported once; otherwise the report names
// the first run where it is worst.
Judgement judge_comparison(const std::vector<JudgedVariant>&);

}  // namespace rankfault
