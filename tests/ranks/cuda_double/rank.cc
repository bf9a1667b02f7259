#include "tests/ranks/cuda_double/rank.h"

#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

namespace rank {

int rank = 0, ranks = 1;
std::string folder;
bool p_names = false;

namespace {
std::map<std::string, Case>& cases() {
  static std::map<std::string, Case> all;
  return all;
}
int number_of(const char* name) { return std::atoi(std::getenv(name)); }
}  // namespace

Register::Register(const char* name, Case run) { cases()[name] = std::move(run); }

void must(bool right, const char* what, const char* file, int line) {
  if (right) return;
  std::fprintf(stderr, "rank %d: %s:%d: not so: %s (NCCL: %s)\n", rank, file, line, what,
               ncclGetLastError(nullptr));
  std::fflush(nullptr);
  _exit(1);
}

void leave(const std::string& name, const std::string& content) {
  std::string part = folder + "/" + name + "." + std::to_string(rank) + ".part";
  std::ofstream(part) << content;
  std::rename(part.c_str(), (folder + "/" + name).c_str());
}

std::string fetch(const std::string& name) {
  while (access((folder + "/" + name).c_str(), F_OK) != 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::ostringstream text;
  text << std::ifstream(folder + "/" + name).rdbuf();
  return text.str();
}

void everybody(const std::string& name) {
  leave(name + "-" + std::to_string(rank));
  for (int other = 0; other < ranks; ++other) fetch(name + "-" + std::to_string(other));
}

ncclComm_t communicator(const std::string& name, bool blocking) {
  ncclUniqueId id;
  if (rank == 0) {
    MUST(ncclGetUniqueId(&id) == ncclSuccess);
    leave(name, std::string(id.internal, sizeof id.internal));
  }
  std::memcpy(id.internal, fetch(name).data(), sizeof id.internal);
  ncclComm_t comm = nullptr;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = blocking;
  ncclResult_t result = ncclCommInitRankConfig(&comm, ranks, id, rank, &config);
  while (result == ncclInProgress) MUST(ncclCommGetAsyncError(comm, &result) == ncclSuccess);
  MUST(result == ncclSuccess);
  return comm;
}

cudaStream_t stream(unsigned flags) {
  cudaStream_t made = nullptr;
  MUST(cudaStreamCreateWithFlags(&made, flags) == cudaSuccess);
  return made;
}

Sum::Sum() {
  MUST(cudaMalloc(reinterpret_cast<void**>(&in), 64) == cudaSuccess);
  MUST(cudaMalloc(reinterpret_cast<void**>(&out), 64) == cudaSuccess);
  for (int i = 0; i < 16; ++i) in[i] = rank + i, out[i] = -1;
}

void Sum::ask(ncclComm_t comm, cudaStream_t on) {
  ncclResult_t result = ncclAllReduce(in, out, 16, ncclInt32, ncclSum, comm, on);
  while (result == ncclInProgress) MUST(ncclCommGetAsyncError(comm, &result) == ncclSuccess);
  MUST(result == ncclSuccess);
}

void Sum::check(int ranks_in_it, int sum_of_ranks) const {
  for (int i = 0; i < 16; ++i) MUST(out[i] == sum_of_ranks + i * ranks_in_it);
}

bool drained(cudaStream_t on) { return cudaStreamSynchronize(on) == cudaSuccess; }

bool stays_pending(cudaStream_t on, ncclComm_t others) {
  static cudaStream_t own = stream();
  static Sum sum;
  for (int i = 0; i < 20; ++i) {
    sum.ask(others, own);
    MUST(drained(own));
  }
  return cudaStreamQuery(on) == cudaErrorNotReady;
}

int nccl_version() {
  int version = 0;
  MUST(ncclGetVersion(&version) == ncclSuccess);
  return version;
}

void* nccl_function(const char* name, int since) {
  if (nccl_version() < since) return nullptr;
  void* found = dlsym(RTLD_DEFAULT, ((p_names ? "p" : "") + std::string(name)).c_str());
  MUST(found);
  return found;
}

}  // namespace rank

int main(int argc, char** argv) {
  using namespace rank;
  rank::rank = number_of("RANK");
  ranks = number_of("WORLD_SIZE");
  folder = std::getenv(std::getenv("MEET") ? "MEET" : "RANKFAULT_CUDA_FOLDER");
  p_names = argc > 2 && std::string(argv[2]) == "pnccl";
  if (argc < 2 || !cases().count(argv[1])) {
    for (auto& one : cases()) std::fprintf(stderr, "case %s\n", one.first.c_str());
    return 64;
  }
  MUST(cudaSetDevice(rank::rank) == cudaSuccess);
  cases()[argv[1]]();
  return 0;
}
