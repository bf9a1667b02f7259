// communicators.cc: every way to make a communicator gives correct sums.
#include <cstring>
#include <vector>

#include "tests/ranks/cuda_double/rank.h"

using namespace rank;  // NOLINT: this is a program

namespace {

void check_sum(ncclComm_t comm, int ranks_in_it, int sum_of_ranks) {
  cudaStream_t on = stream();
  Sum sum;
  sum.ask(comm, on);
  MUST(drained(on));
  sum.check(ranks_in_it, sum_of_ranks);
}
int all_ranks() { return ranks * (ranks - 1) / 2; }

void not_blocking() {
  ncclComm_t comm = communicator("job", false);
  for (int i = 0; i < 10; ++i) check_sum(comm, ranks, all_ranks());
  ncclResult_t result = ncclCommFinalize(comm);
  while (result == ncclInProgress) MUST(ncclCommGetAsyncError(comm, &result) == ncclSuccess);
  MUST(ncclCommDestroy(comm) == ncclSuccess);
}
const Register registered_not_blocking("made_not_blocking", not_blocking);

void alone() {
  ncclComm_t comm = communicator("job");
  check_sum(comm, 1, 0);
  MUST(ncclCommDestroy(comm) == ncclSuccess);
}
const Register registered_alone("made_alone", alone);

void split() {
  ncclComm_t comm = communicator("job"), half = nullptr, again = nullptr;
  int color = rank::rank % 2;
  MUST(ncclCommSplit(comm, color, rank::rank, &half, nullptr) == ncclSuccess);
  MUST(ncclCommSplit(comm, rank::rank == 0 ? NCCL_SPLIT_NOCOLOR : 1, rank::rank, &again, nullptr) ==
       ncclSuccess);
  int members = 0, sum = 0;
  for (int r = color; r < ranks; r += 2) ++members, sum += r;
  check_sum(half, members, sum);
  if (rank::rank != 0) check_sum(again, ranks - 1, all_ranks());
  check_sum(comm, ranks, all_ranks());
  for (ncclComm_t one : {half, again, comm}) {
    if (one) MUST(ncclCommDestroy(one) == ncclSuccess);
  }
}
const Register registered_split("made_split", split);

// One process with all devices.
void init_all() {
  constexpr int kDevices = 3;
  ncclComm_t comms[kDevices];
  MUST(ncclCommInitAll(comms, kDevices, nullptr) == ncclSuccess);
  std::vector<Sum> sums(kDevices);
  cudaStream_t on[kDevices];
  for (int d = 0; d < kDevices; ++d) {
    MUST(cudaSetDevice(d) == cudaSuccess);
    on[d] = stream();
  }
  MUST(ncclGroupStart() == ncclSuccess);
  for (int d = 0; d < kDevices; ++d) sums[static_cast<unsigned>(d)].ask(comms[d], on[d]);
  MUST(ncclGroupEnd() == ncclSuccess);
  for (int d = 0; d < kDevices; ++d) {
    MUST(drained(on[d]));
    sums[static_cast<unsigned>(d)].check(kDevices, kDevices * rank::rank);
  }
  for (ncclComm_t comm : comms) MUST(ncclCommDestroy(comm) == ncclSuccess);
}
const Register registered_all("made_init_all", init_all);

using Shrink = ncclResult_t(ncclComm_t, int*, int, ncclComm_t*, ncclConfig_t*, int);
using Revoke = ncclResult_t(ncclComm_t, int);
using Grow = ncclResult_t(ncclComm_t, int, const ncclUniqueId*, int, ncclComm_t*, ncclConfig_t*);
using NewId = ncclResult_t(ncclComm_t, ncclUniqueId*);

// An operation is pending because rank 1 does not come. The others shrink without it and continue.
void shrink() {
  auto* shrink = reinterpret_cast<Shrink*>(nccl_function("ncclCommShrink", 22700));
  if (!shrink) return;
  ncclComm_t comm = communicator("job"), child = nullptr;
  cudaStream_t on = stream();
  Sum sum;
  if (rank::rank == 1) {
    fetch("shrunk");
    return;
  }
  sum.ask(comm, on);
  int excluded = 1;
  MUST(shrink(comm, &excluded, 1, &child, nullptr, 1 /* NCCL_SHRINK_ABORT */) == ncclSuccess);
  MUST(drained(on));
  check_sum(child, ranks - 1, all_ranks() - 1);
  leave("shrunk");
  MUST(ncclCommDestroy(child) == ncclSuccess);
  MUST(ncclCommAbort(comm) == ncclSuccess);
}
const Register registered_shrink("made_shrink", shrink);

void revoke() {
  auto* revoke = reinterpret_cast<Revoke*>(nccl_function("ncclCommRevoke", 22900));
  if (!revoke) return;
  ncclComm_t comm = communicator("job");
  cudaStream_t on = stream();
  Sum sum;
  if (rank::rank != 1) {
    sum.ask(comm, on);
    MUST(revoke(comm, 0) == ncclSuccess);
    MUST(drained(on));
    MUST(ncclAllReduce(sum.in, sum.out, 16, ncclInt32, ncclSum, comm, on) == ncclInvalidUsage);
  }
  everybody("revoked");
  MUST(ncclCommAbort(comm) == ncclSuccess);
}
const Register registered_revoke("made_revoke", revoke);

// The last rank is new. The model does not support grown communicators: it refuses a call on one, and the
// parent continues.
void grow() {
  auto* grow = reinterpret_cast<Grow*>(nccl_function("ncclCommGrow", 22900));
  auto* new_id = reinterpret_cast<NewId*>(nccl_function("ncclCommGetUniqueId", 22900));
  if (!grow || !new_id) return;
  const int all = ranks--, last = ranks;
  ncclComm_t parent = rank::rank == last ? nullptr : communicator("job"), grown = nullptr;
  ncclUniqueId id{};
  if (parent) check_sum(parent, ranks, all_ranks());
  if (rank::rank == 0) {
    MUST(new_id(parent, &id) == ncclSuccess);
    leave("grow", std::string(id.internal, sizeof id.internal));
  } else if (rank::rank == last) {
    std::memcpy(id.internal, fetch("grow").data(), sizeof id.internal);
  }
  const bool has_id = rank::rank == 0 || rank::rank == last;
  MUST(grow(parent, all, has_id ? &id : nullptr, parent ? -1 : last, &grown, nullptr) == ncclSuccess);
  int in_it = 0;
  MUST(ncclCommCount(grown, &in_it) == ncclSuccess && in_it == all);
  cudaStream_t on = stream();
  Sum sum;
  MUST(ncclAllReduce(sum.in, sum.out, 16, ncclInt32, ncclSum, grown, on) != ncclSuccess);
  if (parent) check_sum(parent, ranks, all_ranks());
  ++ranks;
  everybody("grown");
  MUST(ncclCommAbort(grown) == ncclSuccess);
  if (parent) MUST(ncclCommAbort(parent) == ncclSuccess);
}
const Register registered_grow("made_grow", grow);

}  // namespace
