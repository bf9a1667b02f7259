// shrink: makes a case that was reproduced smaller, as long as the small job still hangs in the same way.
//
// It tries, in this order: fewer calls of each rank before the divergence, fewer ranks, groups and calls that
// no rank waits for, counts of 1. Each step halves first and then takes one by one; a step stays only if the
// job hangs in the same way every time (delta debugging: Zeller, Hildebrandt, "Simplifying and isolating
// failure-inducing input", TSE 2002).
#pragma once

#include <functional>
#include <string>

#include "harness/reproduce/case.h"

namespace rankfault {

struct ShrinkStep {
  std::string what;  // "12 calls before the divergence instead of 48"
  Case smaller;
};

// Whether the job of this case hangs in the same way, every time that it was tried.
using StillHangs = std::function<bool(const Case&)>;

// The smallest case found. `kept` gets each step that stayed; may be empty.
Case shrink(Case, const StillHangs&, const std::function<void(const std::string&)>& kept);

// The single steps, for tests. Each returns the case with less, or the same case if there is nothing to leave
// out.
Case with_calls_before(const Case&, size_t most);  // of each rank before its first open call
Case without_rank(const Case&, int rank);
Case with_counts_of_one(const Case&);
// Calls after a rank's first open call: no rank reaches them.
Case without_calls_after(const Case&);

}  // namespace rankfault
