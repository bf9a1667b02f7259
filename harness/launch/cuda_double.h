// cuda_double: a job over the double of CUDA (cuda_double/README.md): which NCCL it uses, and the
// environment by which its ranks find it. The tool itself loads no part of the double.
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
  std::string torch{};  // of the stand-ins for the other libraries that PyTorch needs; "": not built
};

// The versions that `./dev nccl` and the build left beside the tool, newest first.
std::vector<std::string> nccl_over_double(const std::string& bin_dir);

// The Python whose PyTorch `./dev torch-nccl` prepared for the double; "": there is none.
std::string python_over_double(const std::string& bin_dir);

// The version that the scenario names, else the newest that its needs allow. kMissing: there is none.
Result<CudaDouble> choose_cuda_double(const Workload&, const std::string& bin_dir);

// Whether /dev/shm has room for its segments.
Status check_cuda_room(const CudaDouble&, const Workload&);
// Whether /dev/shm has room for its segments, and whether the program has anything to double. Errors are the
// user's; it launches nothing to find out.
Status check_cuda_double(const CudaDouble&, const Workload&, const std::string& program);

// The variables that the ranks get. `meet`: a folder of this attempt, where they meet. With more than 8
// `ranks` the double has as many devices, unless the environment says how many.
void add_cuda_double(const CudaDouble&, int ranks, const std::string& meet,
                     std::map<std::string, std::string>& env);
// Puts it before whatever LD_LIBRARY_PATH names.
void put_cuda_double_first(const CudaDouble&, std::map<std::string, std::string>& env);

}  // namespace rankfault
