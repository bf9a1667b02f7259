// meeting.cc: the ranks of a job meet over NCCL, with their own limit. A rank that cannot meet informs the
// others. Then all abort, and try once more under a new id. After the meeting, they make a few sums.
//
//   meeting --folder=DIR [--limit=SECONDS] [--tries=N] [--steps=N] [--no-abort] [--believe-in-nccl]
//           [--old-id] [--keep-segments] [--exchange-from=STEP]
//
// --exchange-from: from this step on, each rank sends a number to the next one instead of a sum, and gives up
// after the limit. NCCL connects two ranks at their first message.
//
// --no-abort: a rank that gives up ends at once, and its end frees all that NCCL held. Each other option
// turns off a defence. --believe-in-nccl: no limit, and no information to the others. --old-id: the second
// try uses the id of the first. --keep-segments: the rank does not remove what NCCL leaves in /dev/shm. Exit:
// 0 the sums were correct, 5 given up with a message, 1 a wrong sum.
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "harness/mark/mark.h"
#include "tests/ranks/cuda_double/meeting/board.h"
#include "tests/ranks/cuda_double/meeting/segments.h"

namespace meeting {
namespace {

using Clock = std::chrono::steady_clock;

int rank, ranks, tries = 2, steps = 3;
double limit = 4;
bool no_abort = false, believes = false, old_id = false, keeps = false;
int exchange_from = 0;

void nap() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

void complain(const char* kind, int n, const std::string& what) {
  std::printf("rank %d error: try %d: %s\n", rank, n, what.c_str());
  rankfault_error(kind, n);
}

ncclUniqueId id_of(const Board& board, int n) {
  const std::string name = "id-" + std::to_string(old_id ? 1 : n);
  ncclUniqueId id;
  if (rank == 0 && !board.has(name)) {
    if (ncclGetUniqueId(&id) != ncclSuccess) std::exit(1);
    board.put(name, std::string(id.internal, sizeof id.internal));
  }
  std::memcpy(id.internal, board.wait(name).data(), sizeof id.internal);
  return id;
}

// Returns what all ranks do: "go" or "failed". The first rank that knows decides for all, so that no rank
// continues alone.
std::string decide(const Board& board, int n, ncclComm_t comm, ncclResult_t result) {
  const std::string of = std::to_string(n), verdict = "verdict-" + of;
  const auto until = Clock::now() + std::chrono::duration<double>(limit);
  for (bool said = false; !board.has(verdict); nap()) {
    if (result == ncclInProgress && ncclCommGetAsyncError(comm, &result) != ncclSuccess)
      result = ncclInternalError;
    if (result == ncclSuccess) {
      if (!said) board.put("done-" + of + "." + std::to_string(rank), "");
      said = true;
      if (board.has_all("done-" + of, ranks)) board.put_first(verdict, "go");
    } else if (result != ncclInProgress) {
      if (!said) complain("other", n, ncclGetErrorString(result));
      said = true;
      if (!believes) board.put_first(verdict, "failed");
    }
    if (!believes && Clock::now() > until && board.put_first(verdict, "failed"))
      complain("timeout", n, "not all came within the limit");
  }
  return board.wait(verdict);
}

ncclComm_t meet(const Board& board, int n) {
  const std::string here = "here-" + std::to_string(n);
  board.put(here + "." + std::to_string(rank), "");
  while (!board.has_all(here, ranks)) nap();
  const ncclUniqueId id = id_of(board, n);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t comm = nullptr;
  const ncclResult_t result = ncclCommInitRankConfig(&comm, ranks, id, rank, &config);
  if (decide(board, n, comm, result) == "go") return comm;
  std::printf("rank %d: try %d failed, %s\n", rank, n, no_abort ? "leaves" : "abort");
  std::set<std::string> left;
  add_mapped_segments(left);
  if (comm && !no_abort) ncclCommAbort(comm);
  add_mapped_segments(left);
  if (!keeps) remove(left);
  if (no_abort) _exit(5);
  return nullptr;
}

bool is_done(ncclComm_t comm, ncclResult_t result) {
  for (; result == ncclInProgress; nap())
    if (ncclCommGetAsyncError(comm, &result) != ncclSuccess) return false;
  return result == ncclSuccess;
}

bool sum(ncclComm_t comm, int step) {
  cudaStream_t stream = nullptr;
  int mine = rank + step, all = -1, *device = nullptr;
  const bool made = cudaStreamCreate(&stream) == cudaSuccess &&
                    cudaMalloc(reinterpret_cast<void**>(&device), sizeof mine) == cudaSuccess;
  if (!made) return false;
  cudaMemcpyAsync(device, &mine, sizeof mine, cudaMemcpyHostToDevice, stream);
  const ncclResult_t asked = ncclAllReduce(device, device, 1, ncclInt32, ncclSum, comm, stream);
  if (!is_done(comm, asked)) return false;
  cudaMemcpyAsync(&all, device, sizeof all, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  cudaFree(device);
  cudaStreamDestroy(stream);
  std::printf("rank %d: step %d: %d\n", rank, step, all);
  return all == ranks * (ranks - 1) / 2 + ranks * step;
}

// Waits until the operation is complete on the stream, or has failed, or the limit has passed.
bool is_through(ncclComm_t comm, ncclResult_t result, cudaStream_t stream, int step) {
  const auto until = Clock::now() + std::chrono::duration<double>(limit);
  for (;; nap()) {
    const ncclResult_t asked =
        result == ncclSuccess || result == ncclInProgress ? ncclCommGetAsyncError(comm, &result) : result;
    if (asked != ncclSuccess) result = asked;
    if (result == ncclSuccess && cudaStreamQuery(stream) == cudaSuccess) return true;
    if (result != ncclSuccess && result != ncclInProgress)
      return complain("other", step, ncclGetErrorString(result)), false;
    if (Clock::now() > until) return complain("timeout", step, "an exchange took too long"), false;
  }
}

// Sends to the next rank, and receives from the previous one.
bool exchange(ncclComm_t comm, int step) {
  static cudaStream_t stream = nullptr;
  static int *host = nullptr, *device = nullptr;
  if (!stream && (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess ||
                  cudaMallocHost(reinterpret_cast<void**>(&host), 2 * sizeof(int)) != cudaSuccess ||
                  cudaMalloc(reinterpret_cast<void**>(&device), 2 * sizeof(int)) != cudaSuccess))
    return false;
  host[0] = rank + step;
  cudaMemcpyAsync(device, host, sizeof(int), cudaMemcpyHostToDevice, stream);
  ncclGroupStart();
  ncclSend(device, 1, ncclInt32, (rank + 1) % ranks, comm, stream);
  ncclRecv(device + 1, 1, ncclInt32, (rank + ranks - 1) % ranks, comm, stream);
  if (!is_through(comm, ncclGroupEnd(), stream, step)) {
    ncclCommAbort(comm);
    return false;
  }
  cudaMemcpyAsync(host + 1, device + 1, sizeof(int), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  std::printf("rank %d: step %d: %d\n", rank, step, host[1]);
  return host[1] == (rank + ranks - 1) % ranks + step;
}

int train(ncclComm_t comm) {
  for (int step = 1; step <= steps; ++step) {
    rankfault_step_begin(step);
    if (!(exchange_from > 0 && step >= exchange_from ? exchange(comm, step) : sum(comm, step))) return 1;
    rankfault_step_commit(step);
  }
  is_done(comm, ncclCommFinalize(comm));
  ncclCommDestroy(comm);
  return 0;
}

int run(const Board& board) {
  for (int n = 1; n <= tries; ++n)
    if (ncclComm_t comm = meet(board, n)) return train(comm);
  return 5;
}

int read_words(int argc, char** argv, std::string& folder) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.rfind("--folder=", 0) == 0)
      folder = word.substr(9);
    else if (word == "--keep-segments")
      keeps = true;
    else if (word == "--no-abort")
      no_abort = true;
    else if (word == "--believe-in-nccl")
      believes = true;
    else if (word == "--old-id")
      old_id = true;
    else if (std::sscanf(argv[i], "--limit=%lf", &limit) != 1 &&
             std::sscanf(argv[i], "--tries=%d", &tries) != 1 &&
             std::sscanf(argv[i], "--exchange-from=%d", &exchange_from) != 1 &&
             std::sscanf(argv[i], "--steps=%d", &steps) != 1)
      return 64;
  }
  return folder.empty() ? 64 : 0;
}

}  // namespace
}  // namespace meeting

int main(int argc, char** argv) {
  using namespace meeting;
  std::string folder;
  if (const int wrong = read_words(argc, argv, folder)) return wrong;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  rank = std::atoi(std::getenv("RANK"));
  ranks = std::atoi(std::getenv("WORLD_SIZE"));
  if (cudaSetDevice(rank) != cudaSuccess) return 1;
  return run(Board(folder));
}
