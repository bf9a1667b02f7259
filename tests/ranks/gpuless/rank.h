// rank.h: one rank of a small NCCL job: how the ranks meet, and what they check.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <functional>
#include <string>

namespace rank {

extern int rank, ranks;
extern std::string folder;  // where the ranks meet

// Ends the rank with 1 and the place where something was not as it must be.
void must(bool right, const char* what, const char* file, int line);
#define MUST(condition) rank::must((condition), #condition, __FILE__, __LINE__)

// A file of the job's folder: one rank leaves it, others wait until it is there.
void leave(const std::string& name, const std::string& content = "");
std::string fetch(const std::string& name);
void everybody(const std::string& name);  // each leaves one, and waits for all

ncclComm_t communicator(const std::string& name, bool blocking = true);
cudaStream_t stream(unsigned flags = cudaStreamNonBlocking);

// True when `on` is still not drained after 20 all-reduces of `others` on a stream of their own: what is
// pending then has had every chance.
bool stays_pending(cudaStream_t on, ncclComm_t others);
bool drained(cudaStream_t on);  // waits

// An all-reduce of a few numbers, and whether its sum is right once the stream is drained.
struct Sum {
  Sum();
  void ask(ncclComm_t comm, cudaStream_t on);
  void check(int ranks_in_it, int sum_of_ranks) const;
  int *in = nullptr, *out = nullptr;  // device memory is host memory, which only a test of the double may use
};

// The public functions under their own names, or under those with a p. Null: this NCCL is older than `since`.
// (To ask the loader is not enough: a preloaded library that stands before NCCL has the names of all
// versions.)
void* nccl_function(const char* name, int since = 0);
int nccl_version();
extern bool p_names;

using Case = std::function<void()>;
struct Register {
  Register(const char* name, Case run);
};

}  // namespace rank
