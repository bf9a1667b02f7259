// nccl_loop: all-reduces of NCCL on one GPU. Prints the microseconds of one call, in four ways.
// Usage: RANK=r WORLD_SIZE=n nccl_loop FOLDER. The ranks exchange NCCL's id in a file of FOLDER.
//
// "waited": the stream is synchronised after each call, as a program does that reads the result.
// "queued": 200 calls are queued, then the stream is synchronised once, as a training step does.
#include <cuda_runtime.h>
#include <nccl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace {

void must(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "nccl_loop: %s failed\n", what);
  std::exit(1);
}

ncclUniqueId exchange_id(const std::string& folder, int rank) {
  ncclUniqueId id;
  const std::string place = folder + "/id", unfinished = place + ".tmp";
  if (rank == 0) {
    must(ncclGetUniqueId(&id) == ncclSuccess, "ncclGetUniqueId");
    std::ofstream(unfinished, std::ios::binary).write(id.internal, sizeof id.internal);
    must(std::rename(unfinished.c_str(), place.c_str()) == 0, "rename");
  }
  while (!std::ifstream(place, std::ios::binary).read(id.internal, sizeof id.internal)) ::usleep(1000);
  return id;
}

struct Job {
  ncclComm_t comm;
  cudaStream_t stream;
  float* data;

  void reduce(size_t count) const {
    must(ncclAllReduce(data, data, count, ncclFloat, ncclSum, comm, stream) == ncclSuccess, "ncclAllReduce");
  }
  void wait() const { must(cudaStreamSynchronize(stream) == cudaSuccess, "cudaStreamSynchronize"); }
};

// The median over `rounds` of the microseconds of one call, `calls` queued before each wait.
double measure(const Job& job, size_t count, int calls, int rounds) {
  std::vector<double> took;
  for (int round = -1 - rounds / 10; round < rounds; ++round) {
    const auto began = std::chrono::steady_clock::now();
    for (int call = 0; call < calls; ++call) job.reduce(count);
    job.wait();
    const std::chrono::duration<double, std::micro> all = std::chrono::steady_clock::now() - began;
    if (round >= 0) took.push_back(all.count() / calls);
  }
  std::nth_element(took.begin(), took.begin() + rounds / 2, took.end());
  return took[rounds / 2];
}

}  // namespace

int main(int, char** argv) {
  const int rank = std::atoi(std::getenv("RANK")), size = std::atoi(std::getenv("WORLD_SIZE"));
  const ncclUniqueId id = exchange_id(argv[1], rank);
  constexpr size_t kSmall = 2, kLarge = 1 << 20;
  Job job{};
  must(cudaSetDevice(0) == cudaSuccess, "cudaSetDevice");
  must(cudaStreamCreateWithFlags(&job.stream, cudaStreamNonBlocking) == cudaSuccess, "cudaStreamCreate");
  must(cudaMalloc(reinterpret_cast<void**>(&job.data), kLarge * sizeof(float)) == cudaSuccess, "cudaMalloc");
  must(cudaMemset(job.data, 0, kLarge * sizeof(float)) == cudaSuccess, "cudaMemset");
  must(ncclCommInitRank(&job.comm, size, id, rank) == ncclSuccess, "ncclCommInitRank");
  const int few = size > 1 ? 10 : 1;  // ranks that share a GPU take turns, which takes milliseconds
  const double small_waited = measure(job, kSmall, 1, 1000 / few),
               small_queued = measure(job, kSmall, 200, 20 / few),
               large_waited = measure(job, kLarge, 1, 100 / few),
               large_queued = measure(job, kLarge, 20, 10 / few);
  if (rank == 0)
    std::printf("8B-waited %.3f 8B-queued %.3f 4MB-waited %.3f 4MB-queued %.3f\n", small_waited, small_queued,
                large_waited, large_queued);
  ncclCommDestroy(job.comm);
  return 0;
}
