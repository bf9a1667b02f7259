// sockets.cc: NCCL's proxy over sockets: what was sent ends with its kernel, so that a communicator can be
// destroyed, and what is pending fails when a peer dies.
#include <unistd.h>

#include <csignal>
#include <string>

#include "tests/ranks/cuda_double/rank.h"

using namespace rank;  // NOLINT: this is a program

namespace {

constexpr unsigned kLimit = 30;  // seconds; a rank that is not done by then ends by SIGALRM

// More than the buffers between two ranks hold, so that the proxy sends in many steps.
constexpr size_t kLarge = 16 << 20;

ncclResult_t error_of(ncclComm_t comm) {
  ncclResult_t error = ncclInternalError;
  MUST(ncclCommGetAsyncError(comm, &error) == ncclSuccess);
  return error;
}

void exchange(ncclComm_t comm, cudaStream_t on) {
  char *in = nullptr, *out = nullptr;
  MUST(cudaMalloc(reinterpret_cast<void**>(&in), kLarge) == cudaSuccess);
  MUST(cudaMalloc(reinterpret_cast<void**>(&out), kLarge) == cudaSuccess);
  in[kLarge - 1] = static_cast<char>(rank::rank);
  const int next = (rank::rank + 1) % ranks, previous = (rank::rank + ranks - 1) % ranks;
  MUST(ncclGroupStart() == ncclSuccess);
  MUST(ncclSend(in, kLarge, ncclInt8, next, comm, on) == ncclSuccess);
  MUST(ncclRecv(out, kLarge, ncclInt8, previous, comm, on) == ncclSuccess);
  MUST(ncclGroupEnd() == ncclSuccess);
  MUST(ncclAllReduce(in, out, kLarge, ncclInt8, ncclMax, comm, on) == ncclSuccess);
  MUST(drained(on));
  MUST(out[kLarge - 1] == ranks - 1);
}

// Rank 1 destroys its communicator after the others. Until then it sees no error.
void destroyed() {
  alarm(kLimit);
  ncclComm_t comm = communicator("job");
  cudaStream_t on = stream();
  Sum sum;
  for (int i = 0; i < 200; ++i) sum.ask(comm, on);
  exchange(comm, on);
  for (int other = 0; rank::rank == 1 && other < ranks; ++other)
    if (other != 1) fetch("destroyed-" + std::to_string(other));
  MUST(error_of(comm) == ncclSuccess);
  MUST(ncclCommDestroy(comm) == ncclSuccess);
  leave("destroyed-" + std::to_string(rank::rank));
}
const Register registered_destroyed("sockets_destroyed", destroyed);

// Rank 1 is killed after a sum. The sum that the others ask for then is pending, and NCCL reports the lost
// peer.
void killed() {
  alarm(kLimit);
  ncclComm_t comm = communicator("job");
  cudaStream_t on = stream();
  Sum sum;
  sum.ask(comm, on);
  MUST(drained(on));
  if (rank::rank == 1) {
    leave("dead");
    raise(SIGKILL);
  }
  fetch("dead");
  sum.ask(comm, on);
  while (error_of(comm) == ncclSuccess) usleep(1000);
  MUST(error_of(comm) == ncclRemoteError);
  MUST(cudaStreamQuery(on) == cudaErrorNotReady);
  MUST(ncclCommAbort(comm) == ncclSuccess);
  MUST(drained(on));
}
const Register registered_killed("sockets_killed", killed);

}  // namespace
