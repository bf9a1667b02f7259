// newer.cc: a program that asks the loader whether NCCL has a function of 2.28, and calls it.
#include <dlfcn.h>

#include <cstdio>

#include "tests/ranks/cuda_double/rank.h"

using namespace rank;  // NOLINT: this is a program

namespace {

void newer_name() {
  using AllToAll = ncclResult_t(const void*, void*, size_t, ncclDataType_t, ncclComm_t, cudaStream_t);
  auto* const found = reinterpret_cast<AllToAll*>(dlsym(RTLD_DEFAULT, "ncclAlltoAll"));
  if (!found) {
    std::puts("not there");
    return;
  }
  ncclComm_t comm = communicator("job");
  cudaStream_t on = stream();
  Sum sum;
  const ncclResult_t first = found(sum.in, sum.out, 1, ncclInt32, comm, on);
  MUST(found(sum.in, sum.out, 1, ncclInt32, comm, on) == first);
  std::puts(first == ncclInvalidUsage ? "refused" : ncclGetErrorString(first));
  sum.ask(comm, on);  // and the rank continues
  MUST(drained(on));
  sum.check(ranks, ranks * (ranks - 1) / 2);
}
const Register registered("newer_name", newer_name);

}  // namespace
