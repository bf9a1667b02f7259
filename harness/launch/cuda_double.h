// cuda_double: a job over the double of CUDA (harness/gpuless/README.md): which NCCL, and by which
// environment its ranks find it. Nothing of the double is loaded into the tool.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/scenario/scenario.h"

namespace rankfault {

struct CudaDouble {
  std::string nccl;     // "2.29.7"
  std::string library;  // folder of its libnccl.so.2
  std::string folder;   // of libcudart, libcuda and libnvidia-ml
};

// The versions that `./dev nccl` and the build left beside the tool, newest first.
std::vector<std::string> nccl_over_double(const std::string& bin_dir);

// The version that the scenario names, else the newest that its needs allow. kMissing: there is none.
Result<CudaDouble> choose_cuda_double(const Workload&, const std::string& bin_dir);

// Whether its segments find room in /dev/shm, and the program something to be doubled. Errors are the
// user's; nothing is launched to find out.
Status check_cuda_double(const CudaDouble&, const Workload&, const std::string& program);

// What the ranks are told. `meet`: a folder of this attempt, where they meet.
void add_cuda_double(const CudaDouble&, const std::string& meet, std::map<std::string, std::string>& env);
// Before whatever LD_LIBRARY_PATH names.
void put_cuda_double_first(const CudaDouble&, std::map<std::string, std::string>& env);

}  // namespace rankfault
