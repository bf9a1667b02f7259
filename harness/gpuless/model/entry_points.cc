#include "harness/gpuless/model/entry_points.h"

#include "harness/gpuless/core/not_computed.h"
#include "harness/gpuless/model/batch.h"

extern "C" void rankfault_cuda_counts(std::uint64_t out[4]) {
  gpuless::Counts counts = gpuless::counts();
  out[0] = counts.calls;
  out[1] = counts.launches;
  out[2] = counts.without_launch;
  out[3] = gpuless::not_computed();
}
