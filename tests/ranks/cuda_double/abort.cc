// abort.cc: does an abort end the pending operations in bounded time, and does it leave nothing of the
// communicator in the process? Each rank prints one line: how long the abort took, and the threads, sockets
// and segments before and after it.
#include <dirent.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "tests/ranks/cuda_double/rank.h"

using namespace rank;  // NOLINT: this is a program

namespace {

using Clock = std::chrono::steady_clock;
using Revoke = ncclResult_t(ncclComm_t, int);
using Shrink = ncclResult_t(ncclComm_t, int*, int, ncclComm_t*, ncclConfig_t*, int);

int entries(const char* folder, const std::function<bool(const std::string&)>& counts) {
  int n = 0;
  DIR* open = opendir(folder);
  MUST(open);
  while (const dirent* entry = readdir(open)) n += counts(std::string(folder) + "/" + entry->d_name);
  closedir(open);
  return n;
}

// The limit in seconds. A longer abort is reported as one that never returns.
unsigned limit() {
  const char* given = std::getenv("ABORT_LIMIT");
  return given ? static_cast<unsigned>(std::atoi(given)) : 10;
}

struct Held {  // held by this process
  int threads = 0, sockets = 0, segments = 0;
};

Held held() {
  Held now;
  now.threads = entries("/proc/self/task", [](const std::string& name) {
    std::string thread;
    std::getline(std::ifstream(name + "/comm") >> std::ws, thread);
    return name.back() != '.' && thread != "cuda double";
  });
  now.sockets = entries("/proc/self/fd", [](const std::string& name) {
    char target[64] = {};
    return readlink(name.c_str(), target, sizeof target - 1) > 0 &&
           std::string(target).rfind("socket:", 0) == 0;
  });
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) now.segments += line.find("/dev/shm/nccl-") != line.npos;
  return now;
}

struct Measured {
  Held before = held();
  double ms = 0;
  std::string results;

  void call(const char* name, const std::function<ncclResult_t()>& abort) {
    std::signal(SIGALRM, [](int) {
      constexpr char kNever[] = "abort never\n";
      _exit(write(STDOUT_FILENO, kNever, sizeof kNever - 1) > 0 ? 3 : 4);
    });
    alarm(limit());
    const auto begin = Clock::now();
    const ncclResult_t result = abort();
    ms += std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    alarm(0);
    results += (results.empty() ? "" : ", ") + std::string(name) + " " + std::to_string(result);
  }
  void abort(ncclComm_t comm) {
    call("abort", [&] { return ncclCommAbort(comm); });
  }
  // A thread or a socket that ends by itself a moment later does not count as left.
  ~Measured() {
    Held after = held();
    for (int i = 0; i < 100 && (after.threads > before.threads || after.sockets > before.sockets); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      after = held();
    }
    std::printf("abort rank %d ms %.1f results [%s] threads %d %d sockets %d %d segments %d %d\n", rank::rank,
                ms, results.c_str(), before.threads, after.threads, before.sockets, after.sockets,
                before.segments, after.segments);
  }
};

bool is_absent() { return rank::rank == ranks - 1; }

// Non-blocking, and one rank never joins: the init of the others stays in progress until they abort.
void in_init() {
  Measured measured;
  ncclUniqueId id;
  if (rank::rank == 0) {
    MUST(ncclGetUniqueId(&id) == ncclSuccess);
    leave("job", std::string(id.internal, sizeof id.internal));
  }
  const std::string text = fetch("job");
  std::copy(text.begin(), text.end(), id.internal);
  if (!is_absent()) {
    ncclComm_t comm = nullptr;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    ncclResult_t result = ncclCommInitRankConfig(&comm, ranks, id, rank::rank, &config);
    const auto begin = Clock::now();
    while (result == ncclInProgress && Clock::now() - begin < std::chrono::seconds(1)) {
      MUST(ncclCommGetAsyncError(comm, &result) == ncclSuccess);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    MUST(result == ncclInProgress);
    measured.abort(comm);
  }
  everybody("aborted");
}
const Register registered_init("abort_init", in_init);

// All ranks have come, and the kernel runs until the abort (RANKFAULT_CUDA_KERNELS=until_abort).
void in_flight() {
  cudaStream_t on = stream();
  Sum sum;
  Measured measured;
  ncclComm_t comm = communicator("job");
  sum.ask(comm, on);
  everybody("asked");
  MUST(cudaStreamQuery(on) == cudaErrorNotReady);
  measured.abort(comm);
  MUST(drained(on));
  everybody("aborted");
}
const Register registered_flight("abort_in_flight", in_flight);

void after_peer_death() {
  cudaStream_t on = stream();
  Sum sum;
  Measured measured;
  ncclComm_t comm = communicator("job");
  if (is_absent()) {
    leave("dead");
    raise(SIGKILL);
  }
  fetch("dead");
  sum.ask(comm, on);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ncclResult_t error = ncclInternalError;  // over shared memory no rank learns of the death
  MUST(ncclCommGetAsyncError(comm, &error) == ncclSuccess && error == ncclSuccess);
  MUST(cudaStreamQuery(on) == cudaErrorNotReady);
  measured.abort(comm);
  MUST(drained(on));
}
const Register registered_death("abort_after_peer_death", after_peer_death);

void of_a_revoked() {
  auto* revoke = reinterpret_cast<Revoke*>(nccl_function("ncclCommRevoke", 22900));
  if (!revoke) return;
  cudaStream_t on = stream();
  Sum sum;
  Measured measured;
  ncclComm_t comm = communicator("job");
  if (!is_absent()) sum.ask(comm, on);
  everybody("asked");
  measured.call("revoke", [&] { return revoke(comm, 0); });
  MUST(drained(on));
  measured.abort(comm);
  everybody("aborted");
}
const Register registered_revoke("abort_revoke", of_a_revoked);

// One rank is dead. The others shrink without it, use the child, and abort both communicators.
void of_a_shrunk() {
  auto* shrink = reinterpret_cast<Shrink*>(nccl_function("ncclCommShrink", 22700));
  if (!shrink) return;
  cudaStream_t on = stream();
  Sum sum, after;
  Measured measured;
  ncclComm_t comm = communicator("job"), child = nullptr;
  if (is_absent()) {
    leave("dead");
    raise(SIGKILL);
  }
  fetch("dead");
  sum.ask(comm, on);
  int excluded = ranks - 1;
  measured.call("shrink",
                [&] { return shrink(comm, &excluded, 1, &child, nullptr, 1 /* NCCL_SHRINK_ABORT */); });
  MUST(drained(on));
  after.ask(child, on);
  MUST(drained(on));
  after.check(ranks - 1, (ranks - 1) * (ranks - 2) / 2);
  measured.abort(child);
  measured.abort(comm);
}
const Register registered_shrink("abort_shrink", of_a_shrunk);

// Two communicators, both with a pending operation, and how they are aborted. cudaFree waits for the device,
// and so does an abort: one after the other, the first abort waits for an operation that only the second
// abort would end.
enum class Order { kSame, kCrossed, kAtOnce };

void of_two(Order order) {
  cudaStream_t one = stream(), two = stream();
  Sum sums[2];
  Measured measured;
  ncclComm_t first = communicator("first"), second = communicator("second");
  sums[0].ask(first, one);
  sums[1].ask(second, two);
  everybody("asked");
  if (order == Order::kCrossed && rank::rank % 2 == 1) std::swap(first, second);
  if (order == Order::kAtOnce) {
    ncclResult_t of_second = ncclInternalError;
    std::thread other([&] { of_second = ncclCommAbort(second); });
    measured.abort(first);
    other.join();
    MUST(of_second == ncclSuccess);
  } else {
    measured.abort(first);
    measured.abort(second);
  }
  MUST(drained(one) && drained(two));
  everybody("aborted");
}
const Register registered_same("abort_two_in_one_order", [] { of_two(Order::kSame); });
const Register registered_crossed("abort_two_crossed", [] { of_two(Order::kCrossed); });
const Register registered_at_once("abort_two_at_once", [] { of_two(Order::kAtOnce); });

}  // namespace
