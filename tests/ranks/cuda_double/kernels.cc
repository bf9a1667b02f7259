// kernels.cc: the other modes of the model of collectives, and what it does with an unknown kernel.
#include <cstdio>

#include "tests/ranks/cuda_double/rank.h"

using namespace rank;  // NOLINT: this is a program

namespace {

// At once: complete without the other rank, and without its data.
void at_once() {
  ncclComm_t comm = communicator("job");
  cudaStream_t on = stream();
  Sum sum;
  if (rank::rank == 0) sum.ask(comm, on);
  MUST(drained(on));
  MUST(sum.out[0] == -1);
  MUST(ncclCommAbort(comm) == ncclSuccess);
}
const Register registered_at_once("kernels_at_once", at_once);

// Until abort: pending although every rank has come.
void until_abort() {
  ncclComm_t comm = communicator("job");
  cudaStream_t on = stream();
  Sum sum;
  sum.ask(comm, on);
  everybody("asked");
  MUST(cudaStreamQuery(on) == cudaErrorNotReady);
  MUST(ncclCommAbort(comm) == ncclSuccess);
  MUST(drained(on));
  MUST(sum.out[0] == -1);
}
const Register registered_until_abort("kernels_until_abort", until_abort);

// The program's own kernel: it computes nothing, and the double counts it. Then the rank reports a value.
void not_a_kernel() {}
void own_kernel() {
  MUST(cudaLaunchKernel(reinterpret_cast<const void*>(not_a_kernel), dim3(1), dim3(1), nullptr, 0,
                        stream()) == cudaSuccess);
  std::printf("value 1\n");
}
const Register registered_own_kernel("own_kernel", own_kernel);
void no_kernel() { std::printf("value 1\n"); }
const Register registered_no_kernel("no_kernel", no_kernel);

}  // namespace
