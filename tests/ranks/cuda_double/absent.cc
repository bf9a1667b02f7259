// absent.cc: one rank is missing in a collective: it skips the call, or is killed before its entry reaches
// the head of its stream.
#include <unistd.h>

#include <csignal>

#include "tests/ranks/cuda_double/rank.h"

using namespace rank;  // NOLINT: this is a program

namespace {

bool is_absent() { return rank::rank == 1; }

// The streams of the others stay pending, and NCCL reports no error. An abort frees them.
void skipped() {
  ncclComm_t comm = communicator("job"), others = communicator("others");
  cudaStream_t on = stream();
  Sum sum;
  sum.ask(comm, on);
  MUST(drained(on));
  if (!is_absent()) sum.ask(comm, on);
  MUST(stays_pending(on, others) == !is_absent());
  ncclResult_t error = ncclInternalError;
  MUST(ncclCommGetAsyncError(comm, &error) == ncclSuccess && error == ncclSuccess);
  everybody("looked");
  MUST(ncclCommAbort(comm) == ncclSuccess);
  MUST(drained(on));
  MUST(ncclCommDestroy(others) == ncclSuccess);
}
const Register registered_skipped("absent_skipped", skipped);

void wait_for_ever(void*) {
  for (;;) pause();
}

// `enqueued`: the victim has made its call, but a host function before the call in its stream does not
// return.
void killed(bool enqueued) {
  ncclComm_t comm = communicator("job"), survivors = nullptr;
  MUST(ncclCommSplit(comm, is_absent() ? NCCL_SPLIT_NOCOLOR : 0, rank::rank, &survivors, nullptr) ==
       ncclSuccess);
  cudaStream_t on = stream();
  Sum sum;
  if (is_absent()) {
    if (enqueued) {
      MUST(cudaLaunchHostFunc(on, wait_for_ever, nullptr) == cudaSuccess);
      sum.ask(comm, on);
    }
    leave("dead");
    raise(SIGKILL);
  }
  fetch("dead");
  sum.ask(comm, on);
  MUST(stays_pending(on, survivors));
  leave("looked-" + std::to_string(rank::rank));
  for (int other = 0; other < ranks; ++other) {
    if (other != 1) fetch("looked-" + std::to_string(other));
  }
  MUST(ncclCommAbort(comm) == ncclSuccess);
  MUST(drained(on));
  MUST(ncclCommAbort(survivors) == ncclSuccess);
}
const Register registered_killed("absent_killed", [] { killed(false); });
const Register registered_enqueued("absent_killed_enqueued", [] { killed(true); });

// A rank takes part in the collective and is killed after it: the others have their sums.
void killed_after() {
  ncclComm_t comm = communicator("job");
  cudaStream_t on = stream();
  Sum sum;
  sum.ask(comm, on);
  MUST(drained(on));
  sum.check(ranks, ranks * (ranks - 1) / 2);
  if (is_absent()) raise(SIGKILL);
  MUST(ncclCommAbort(comm) == ncclSuccess);
}
const Register registered_after("absent_killed_after", killed_after);

}  // namespace
