// fold: a smaller case that keeps the shape of a large job: the culprits, the ranks that wait for them, the
// first and the last rank, and at least two members of each group that these ranks are in.
//
// The ranks of the small job are a part of the ranks of the large one, in their order; each group keeps its
// chosen members. Calls on a group with one chosen member are left out: such a call waits for no rank.
#pragma once

#include <string>
#include <vector>

#include "harness/reproduce/case.h"

namespace rankfault {

constexpr int kFoldedRanks = 8;

// The ranks of the evidence that stay, sorted: all of them if there are at most `most`. At least 2.
std::vector<int> ranks_to_keep(const Case&, int most);

// The case of these ranks, numbered from 0. `folded_from` has their numbers in the evidence.
Case folded(const Case&, const std::vector<int>& keep);

// "8 of the 1024 ranks stay: ranks 0 1 43 of the evidence"; "" if all stay.
std::string folded_text(const Case&);

// Divides all counts by one number, so that the largest is at most `most` elements. Counts stay different
// where they differ, and at least 1.
void scale_counts(Case&, int64_t most);

}  // namespace rankfault
