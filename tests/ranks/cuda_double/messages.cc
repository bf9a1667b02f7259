// messages.cc: rank 0 waits for a message to arrive or to be taken, and rank 1 leaves without its part.
#include "tests/ranks/cuda_double/rank.h"

using namespace rank;  // NOLINT: this is a program

namespace {

constexpr int kNumbers = 1 << 20;

struct Pair {
  ncclComm_t comm = communicator("job");
  cudaStream_t on = stream();
  int *in = nullptr, *out = nullptr;
  Pair() {
    MUST(cudaMalloc(reinterpret_cast<void**>(&in), kNumbers * sizeof(int)) == cudaSuccess);
    MUST(cudaMalloc(reinterpret_cast<void**>(&out), kNumbers * sizeof(int)) == cudaSuccess);
    exchange(true, true);  // so that the ranks are connected
    MUST(drained(on));
  }
  void exchange(bool sends, bool receives) {
    const int other = 1 - rank::rank;
    MUST(ncclGroupStart() == ncclSuccess);
    if (sends) MUST(ncclSend(out, kNumbers, ncclInt32, other, comm, on) == ncclSuccess);
    if (receives) MUST(ncclRecv(in, kNumbers, ncclInt32, other, comm, on) == ncclSuccess);
    MUST(ncclGroupEnd() == ncclSuccess);
  }
};

void never_sent() {
  Pair pair;
  if (rank::rank == 1) return;
  MUST(ncclRecv(pair.in, kNumbers, ncclInt32, 1, pair.comm, pair.on) == ncclSuccess);
  drained(pair.on);
}
const Register registered_sent("messages_never_sent", never_sent);

void never_sent_in_a_group() {
  Pair pair;
  if (rank::rank == 1) return;
  pair.exchange(true, true);
  drained(pair.on);
}
const Register registered_group("messages_never_sent_in_a_group", never_sent_in_a_group);

void never_received() {
  Pair pair;
  if (rank::rank == 1) return;
  MUST(ncclSend(pair.out, kNumbers, ncclInt32, 1, pair.comm, pair.on) == ncclSuccess);
  drained(pair.on);
}
const Register registered_received("messages_never_received", never_received);

}  // namespace
