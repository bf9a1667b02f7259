// needs: see needs.h. MPI, PyTorch and their versions are asked by the launchers, NCCL over the double by
// choose_cuda_double.
#include "harness/launch/needs.h"

#include <unistd.h>

#include "harness/base/nccl_version.h"

namespace rankfault {
namespace {

bool is_gpu_there() { return ::access("/dev/nvidiactl", R_OK | W_OK) == 0; }

Status need_met(const std::string& word, bool cuda_double) {
  if (word == "root" && ::geteuid() != 0) return missing("root is needed");
  if (word == "netns" && ::geteuid() != 0) return missing("network namespaces are needed, and so root");
  if (word == "dev_shm" && ::access("/dev/shm", R_OK | W_OK | X_OK) != 0)
    return missing("/dev/shm cannot be written");
  const bool of_a_gpu = word == "gpu" || ((word == "nccl" || nccl_need(word)) && !cuda_double);
  if (of_a_gpu && !is_gpu_there())
    return missing(word + " is needed, and this machine has no GPU" +
                   (word == "gpu" ? "" : " (--cuda double: NCCL without one)"));
  return Done{};
}

}  // namespace

Status needs_met(const Workload& workload) {
  for (const std::string& word : workload.needs)
    if (const Status met = need_met(word, workload.cuda_double); !met) return met;
  return Done{};
}

}  // namespace rankfault
