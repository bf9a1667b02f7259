// memory.cc: memory that NCCL allocates, registers and frees.
#include "tests/ranks/cuda_double/rank.h"

using namespace rank;  // NOLINT: this is a program

namespace {

void memory() {
  constexpr size_t kBytes = 4096;
  ncclComm_t comm = communicator("job");
  void *at = nullptr, *registered = nullptr;
  MUST(ncclMemAlloc(&at, kBytes) == ncclSuccess);
  MUST(ncclCommRegister(comm, at, kBytes, &registered) == ncclSuccess);
  cudaStream_t on = stream();
  Sum sum;
  sum.in = static_cast<int*>(at);
  for (int i = 0; i < 16; ++i) sum.in[i] = rank::rank + i;
  sum.ask(comm, on);
  MUST(drained(on));
  sum.check(ranks, ranks * (ranks - 1) / 2);
  MUST(ncclCommDeregister(comm, registered) == ncclSuccess);
  MUST(ncclMemFree(at) == ncclSuccess);
  MUST(ncclCommDestroy(comm) == ncclSuccess);
}
const Register registered_memory("memory", memory);

}  // namespace
