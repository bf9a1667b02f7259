// rank.h: one rank of a small NCCL job: how the ranks meet, and the checks that they make.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <functional>
#include <string>

namespace rank {

extern int rank, ranks;
extern std::string folder;  // where the ranks meet

// Prints the place and ends the rank with 1 if a condition does not hold.
void must(bool right, const char* what, const char* file, int line);
#define MUST(condition) rank::must((condition), #condition, __FILE__, __LINE__)

// A file in the job's folder: one rank writes it, others wait until it exists.
void leave(const std::string& name, const std::string& content = "");
std::string fetch(const std::string& name);
void everybody(const std::string& name);  // each rank leaves one, and waits for those of all ranks

ncclComm_t communicator(const std::string& name, bool blocking = true);
cudaStream_t stream(unsigned flags = cudaStreamNonBlocking);

// True if `on` is still not drained after 20 all-reduces of `others` on their own stream: an operation that
// is still pending then had every chance to complete.
bool stays_pending(cudaStream_t on, ncclComm_t others);
bool drained(cudaStream_t on);  // waits

// An all-reduce of a few numbers, and the check of its sum after the stream is drained.
struct Sum {
  Sum();
  void ask(ncclComm_t comm, cudaStream_t on);
  void check(int ranks_in_it, int sum_of_ranks) const;
  int *in = nullptr, *out = nullptr;  // device memory is host memory, which only a test of the double may use
};

// The public functions under their own names, or under the names with a p. Null: this NCCL is older than
// `since`. (The loader does not show this: a preloaded library before NCCL has the names of all versions.)
void* nccl_function(const char* name, int since = 0);
int nccl_version();
extern bool p_names;

using Case = std::function<void()>;
struct Register {
  Register(const char* name, Case run);
};

}  // namespace rank
