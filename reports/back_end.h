// back_end: the library that a run tests, and the case that runs over several libraries share.
#pragma once

#include <string>

#include "harness/facts/run_facts.h"

namespace rankfault {

// "mpi-trainer-skip-allreduce" and "skip-allreduce" are one case.
std::string case_of(const std::string& scenario);
// "Gloo", "NCCL, CUDA doubled"; "none".
std::string back_end(const RunFacts&);

}  // namespace rankfault
