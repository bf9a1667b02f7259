// from_clues: a case from logs alone. It repeats what the messages say, and says what it guessed.
//
// What a log can show: which ranks gave up which call, at which place, with how many elements; how far a rank
// had come; which process ended, and how; which ranks the library itself named. What it cannot show is
// guessed only where one reading fits all messages: ranks that say nothing while all others give up one call
// are held outside it.
#pragma once

#include <set>
#include <vector>

#include "harness/reproduce/case.h"
#include "harness/reproduce/logs/clue.h"

namespace rankfault {

// A case without a state (HangState::hangs() is false) when the log names no communication call that waits:
// `questions` then says what is missing. `files`: the ranks that have a log file of their own.
// `absent`: the rank that the user takes for the one that did not come, where the log does not show it; -1:
// none.
Case case_from_clues(const std::vector<Clue>&, const std::set<int>& files = {}, int absent = -1);

}  // namespace rankfault
