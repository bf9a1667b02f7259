// entry_points.h: functions of the model with C names, for the doubled libraries and for tests.
#pragma once

#include <cstdint>

extern "C" {
// In this order: calls that NCCL accepted, kernels launched for them, calls without a kernel, and kernels of
// other libraries or of the program.
void rankfault_cuda_counts(std::uint64_t out[4]);
// Whether each kernel that was launched for this communicator of NCCL runs or has ended; 1 for one that the
// model does not know. NCCL's proxy asks (nccl_build/net_progress.cc).
int rankfault_cuda_kernels_run(const void* communicator);
}
