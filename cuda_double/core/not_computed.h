// not_computed.h: counts the kernels that were launched but computed nothing, in a file of the job's folder,
// so that the count survives a SIGKILL.
#pragma once

#include <cstdint>

namespace cuda_double {

void count_not_computed();
std::uint64_t not_computed();

}  // namespace cuda_double
