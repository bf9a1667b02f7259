// entry_points.h: functions of the model with C names, for the doubled libraries and for tests.
#pragma once

#include <cstdint>

extern "C" {
// In this order: calls that NCCL accepted, kernels launched for them, calls without a kernel, and kernels of
// other libraries or of the program.
void rankfault_cuda_counts(std::uint64_t out[4]);
}
