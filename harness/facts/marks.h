// marks: the marks that a workload made, from its flight records.
#pragma once

#include <vector>

#include "harness/facts/run_facts.h"

namespace rankfault {

std::vector<Mark> marks_of(const Timeline&);  // of the ranks, ordered by time

}  // namespace rankfault
