// marks: the marks a workload made, taken from its flight records.
#pragma once

#include <vector>

#include "harness/run/run_facts.h"

namespace rankfault {

std::vector<Mark> marks_of(const Timeline&);  // of the ranks, in the order of time

}  // namespace rankfault
