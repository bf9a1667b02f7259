// bench.cc: measures an initialisation and a small all-reduce, and the CPU time of each rank for one. It
// checks nothing.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>

#include "tests/ranks/cuda_double/rank.h"

using namespace rank;  // NOLINT: this is a program

namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double cpu_us() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

void initialise() {
  everybody("here");
  const auto begin = Clock::now();
  const double cpu_from = cpu_us();
  ncclComm_t comm = communicator("job");
  if (rank::rank == 0) std::printf("init ms %.1f\n", ms_since(begin));
  std::printf("cpu us %.1f\n", cpu_us() - cpu_from);
  MUST(ncclCommDestroy(comm) == ncclSuccess);
}
const Register registered_init("init", initialise);

void measure() {
  constexpr int kWarm = 50, kTimes = 2000, kCount = 256;  // 1 KiB
  everybody("here");
  const auto begin = Clock::now();
  ncclComm_t comm = communicator("job");
  const double init = ms_since(begin);
  cudaStream_t on = stream();
  int *in = nullptr, *out = nullptr;
  for (int** memory : {&in, &out})
    MUST(cudaMalloc(reinterpret_cast<void**>(memory), kCount * sizeof(int)) == cudaSuccess);
  Clock::time_point from;
  double cpu_from = 0;
  for (int i = -kWarm; i < kTimes; ++i) {
    if (i == 0) from = Clock::now(), cpu_from = cpu_us();
    MUST(ncclAllReduce(in, out, kCount, ncclInt32, ncclSum, comm, on) == ncclSuccess && drained(on));
  }
  if (rank::rank == 0) std::printf("init ms %.1f all_reduce us %.1f\n", init, ms_since(from) * 1000 / kTimes);
  std::printf("cpu us %.1f\n", (cpu_us() - cpu_from) / kTimes);
  MUST(ncclCommDestroy(comm) == ncclSuccess);
}
const Register registered("bench", measure);

}  // namespace
