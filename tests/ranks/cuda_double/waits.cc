// waits.cc: a rank that enqueues and waits, step by step. End-to-end tests inject faults into this program.
#include <unistd.h>

#include "tests/ranks/cuda_double/rank.h"

using namespace rank;  // NOLINT: this is a program

namespace {

void wait_for_ever(void*) {
  for (;;) pause();
}

// `held`: rank 1's last all-reduce is in its stream behind a host function that does not return.
void steps(bool held) {
  constexpr int kSteps = 4;
  ncclComm_t comm = communicator("job");
  cudaStream_t on = stream();
  Sum sum;
  for (int step = 1; step <= kSteps; ++step) {
    if (held && step == kSteps && rank::rank == 1)
      MUST(cudaLaunchHostFunc(on, wait_for_ever, nullptr) == cudaSuccess);
    sum.ask(comm, on);
    MUST(drained(on));
    sum.check(ranks, ranks * (ranks - 1) / 2);
  }
}
const Register registered("waits_steps", [] { steps(false); });
const Register registered_held("waits_steps_held", [] { steps(true); });

// A group of two calls on a non-blocking communicator, which rank 1 never joins. The program uses every way
// to ask whether the group is complete.
void group_of_two() {
  // both are non-blocking: NCCL 2.22 refuses a blocking one on a thread that has made a non-blocking one
  ncclComm_t comm = communicator("job", false), others = communicator("others", false);
  cudaStream_t on = stream();
  Sum first, second;
  cudaEvent_t event = nullptr;
  MUST(cudaEventCreate(&event) == cudaSuccess);
  if (rank::rank != 1) {
    MUST(ncclGroupStart() == ncclSuccess);
    MUST(ncclAllReduce(first.in, first.out, 16, ncclInt32, ncclSum, comm, on) != ncclInvalidUsage);
    MUST(ncclAllReduce(second.in, second.out, 16, ncclInt32, ncclSum, comm, on) != ncclInvalidUsage);
    ncclResult_t result = ncclGroupEnd();
    while (result == ncclInProgress) MUST(ncclCommGetAsyncError(comm, &result) == ncclSuccess);
    MUST(result == ncclSuccess);
    MUST(cudaEventRecord(event, on) == cudaSuccess);
    MUST(stays_pending(on, others));
    MUST(cudaEventQuery(event) == cudaErrorNotReady);
  } else {
    stays_pending(on, others);
  }
  everybody("looked");
  MUST(ncclCommAbort(comm) == ncclSuccess);
  if (rank::rank != 1) MUST(drained(on) && cudaEventSynchronize(event) == cudaSuccess);
}
const Register registered_group("waits_group_of_two", group_of_two);

}  // namespace
