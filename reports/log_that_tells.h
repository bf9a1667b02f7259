// log_that_tells: for a run that is not as expected: the log of the rank that failed by itself, by rank and
// attempt, with its path and its last lines.
#pragma once

#include <string>

#include "harness/facts/run_facts.h"

namespace rankfault {

// "": no rank failed by itself, or its output has no file. `shown`: lines that are in it are not repeated.
std::string log_that_tells(const RunFacts&, const std::string& shown);

}  // namespace rankfault
