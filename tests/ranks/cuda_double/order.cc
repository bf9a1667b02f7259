// order.cc: two communicators that two ranks use in opposite orders: with one stream they hang, with two
// streams or a group they do not.
#include <cstdint>
#include <future>
#include <vector>

#include "cuda_double/model/entry_points.h"
#include "tests/ranks/cuda_double/rank.h"

using namespace rank;  // NOLINT: this is a program

namespace {

struct Two {
  ncclComm_t first = communicator("first"), second = communicator("second"), others = communicator("others");
  Sum sums[2];
  // Rank 0 enqueues on first, then second; the others on second, then first.
  void ask(cudaStream_t one, cudaStream_t two) {
    sums[0].ask(rank::rank == 0 ? first : second, one);
    sums[1].ask(rank::rank == 0 ? second : first, two);
  }
  void check() {
    for (Sum& sum : sums) sum.check(ranks, ranks * (ranks - 1) / 2);
  }
  void end() {
    for (ncclComm_t comm : {first, second, others}) MUST(ncclCommDestroy(comm) == ncclSuccess);
  }
};

void one_stream() {
  Two two;
  cudaStream_t on = stream();
  two.ask(on, on);
  MUST(stays_pending(on, two.others));
  everybody("asked");  // an abort of one rank does not change the operations of the others
  MUST(ncclCommAbort(two.first) == ncclSuccess);
  MUST(ncclCommAbort(two.second) == ncclSuccess);
  MUST(drained(on));
  MUST(ncclCommDestroy(two.others) == ncclSuccess);
}
const Register registered_one("order_one_stream", one_stream);

void two_streams() {
  Two two;
  cudaStream_t one = stream(), other = stream();
  two.ask(one, other);
  MUST(drained(one) && drained(other));
  two.check();
  two.end();
}
const Register registered_two("order_two_streams", two_streams);

// In one group they progress together, in any order.
void one_group() {
  Two two;
  cudaStream_t on = stream();
  MUST(ncclGroupStart() == ncclSuccess);
  two.ask(on, on);
  MUST(ncclGroupEnd() == ncclSuccess);
  MUST(drained(on));
  two.check();
  two.end();
}
const Register registered_group("order_one_group", one_group);

// Two communicators in one group. One has calls on two streams, of which NCCL launches on the later; the
// other shares the earlier. NCCL orders the two by a random number, so each communicator plays both parts.
void shared_stream() {
  ncclComm_t comms[] = {communicator("first"), communicator("second")};
  cudaStream_t shared = stream(), own = stream();
  for (int i = 0; i < 8; ++i) {
    Sum sums[3];
    MUST(ncclGroupStart() == ncclSuccess);
    sums[0].ask(comms[i % 2], shared);
    sums[1].ask(comms[1 - i % 2], shared);
    sums[2].ask(comms[i % 2], own);
    MUST(ncclGroupEnd() == ncclSuccess);
    MUST(drained(shared) && drained(own));
    for (Sum& sum : sums) sum.check(ranks, ranks * (ranks - 1) / 2);
  }
  for (ncclComm_t comm : comms) MUST(ncclCommDestroy(comm) == ncclSuccess);
}
const Register registered_shared("order_shared_stream", shared_stream);

// The same with two streams, named in opposite orders: NCCL launches on the last stream that a communicator
// named.
void crossed_streams() {
  ncclComm_t comms[] = {communicator("first"), communicator("second")};
  cudaStream_t on[] = {stream(), stream()};
  std::vector<Sum> sums(3000);  // enough for several kernels of each communicator
  MUST(ncclGroupStart() == ncclSuccess);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::size_t which = i % 2;
    sums[i].ask(comms[which], on[(i / 2) % 2 == which]);
  }
  MUST(ncclGroupEnd() == ncclSuccess);
  MUST(drained(on[0]) && drained(on[1]));
  for (Sum& sum : sums) sum.check(ranks, ranks * (ranks - 1) / 2);
  for (ncclComm_t comm : comms) MUST(ncclCommDestroy(comm) == ncclSuccess);
}
const Register registered_crossed("order_crossed_streams", crossed_streams);

// Enough calls in one group for several kernels of NCCL, on two streams.
void large_group() {
  ncclComm_t comm = communicator("job");
  cudaStream_t on[] = {stream(), stream()};
  std::vector<Sum> sums(3000);
  std::uint64_t before[4], after[4];
  rankfault_cuda_counts(before);
  MUST(ncclGroupStart() == ncclSuccess);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i].ask(comm, on[i % 2]);
  MUST(ncclGroupEnd() == ncclSuccess);
  rankfault_cuda_counts(after);
  MUST(after[1] - before[1] > 1);  // otherwise this shows nothing
  MUST(drained(on[0]) && drained(on[1]));
  for (Sum& sum : sums) sum.check(ranks, ranks * (ranks - 1) / 2);
  MUST(ncclCommDestroy(comm) == ncclSuccess);
}
const Register registered_large("order_large_group", large_group);

std::promise<void> gate;
void wait_for_gate(void*) { gate.get_future().wait(); }

// The calls of a group on one communicator are on two streams, one of which is held. They wait, although the
// calls of the group's other communicator, launched before them on the free stream, are at its head.
void held_stream() {
  Two two;
  Sum third;
  cudaStream_t free = stream(), held = stream();
  MUST(cudaLaunchHostFunc(held, wait_for_gate, nullptr) == cudaSuccess);
  MUST(ncclGroupStart() == ncclSuccess);
  two.sums[0].ask(two.first, free);
  two.sums[1].ask(two.second, held);
  third.ask(two.second, free);
  MUST(ncclGroupEnd() == ncclSuccess);
  MUST(stays_pending(free, two.others));
  MUST(third.out[0] == -1 && two.sums[1].out[0] == -1);
  gate.set_value();
  MUST(drained(free) && drained(held));
  two.check();
  third.check(ranks, ranks * (ranks - 1) / 2);
  two.end();
}
const Register registered_held("order_held_stream", held_stream);

// Two streams, but one waits for an event of the other: the same result as with one stream.
void awaited_event() {
  Two two;
  cudaStream_t one = stream(), other = stream();
  cudaEvent_t event = nullptr;
  MUST(cudaEventCreateWithFlags(&event, cudaEventDisableTiming) == cudaSuccess);
  two.sums[0].ask(rank::rank == 0 ? two.first : two.second, one);
  MUST(cudaEventRecord(event, one) == cudaSuccess);
  MUST(cudaStreamWaitEvent(other, event, 0) == cudaSuccess);
  two.sums[1].ask(rank::rank == 0 ? two.second : two.first, other);
  MUST(stays_pending(one, two.others));
  MUST(stays_pending(other, two.others));
  everybody("asked");
  MUST(ncclCommAbort(two.first) == ncclSuccess);
  MUST(ncclCommAbort(two.second) == ncclSuccess);
  MUST(drained(one) && drained(other));
  MUST(ncclCommDestroy(two.others) == ncclSuccess);
}
const Register registered_event("order_awaited_event", awaited_event);

}  // namespace
