// straggler_ratio: compares how long ranks spend in their own code between calls that all of them made.
#pragma once

#include <string>

#include "harness/diagnose/model/view.h"

namespace rankfault {

// Returns "; before their last 20 calls there, it took 2.5 times as long as the others" (their median) if the
// factor is at least 1.5 and there are enough calls; else "". It ignores calls in progress, so the text is
// the same at every look at a wait.
std::string straggler_text(const CommGroup&, const Process&);

}  // namespace rankfault
