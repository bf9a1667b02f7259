// entry_points.h: what the doubled libraries ask of the model by C names, so that a test can ask, too.
#pragma once

#include <cstdint>

extern "C" {
// Calls of NCCL accepted, kernels launched for them, calls for which none came, and kernels of others: in
// this order.
void rankfault_cuda_counts(std::uint64_t out[4]);
}
