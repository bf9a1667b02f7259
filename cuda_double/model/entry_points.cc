#include "cuda_double/model/entry_points.h"

#include "cuda_double/core/not_computed.h"
#include "cuda_double/model/batch.h"

extern "C" void rankfault_cuda_counts(std::uint64_t out[4]) {
  cuda_double::Counts counts = cuda_double::counts();
  out[0] = counts.calls;
  out[1] = counts.launches;
  out[2] = counts.without_launch;
  out[3] = cuda_double::not_computed();
}

extern "C" int rankfault_cuda_kernels_run(const void* communicator) {
  const cuda_double::CommunicatorPtr known = cuda_double::communicator_of(communicator);
  return !known || known->behind == 0;
}
