// not_computed.h: kernels that were launched and computed nothing, counted in a file of the job's folder, so
// that the count is there also after a SIGKILL.
#pragma once

#include <cstdint>

namespace gpuless {

void count_not_computed();
std::uint64_t not_computed();

}  // namespace gpuless
