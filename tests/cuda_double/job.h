// job.h: runs the ranks of a small NCCL job over the double of CUDA, and returns how each rank ended.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace rankfault::test {

struct GpulessJob {
  std::string version;  // of NCCL
  int ranks = 4;
  std::vector<std::string> words;  // the case and its arguments; {folder}: where the ranks meet
  std::map<int, std::vector<std::string>> more_words{};  // for one rank
  std::string program = "ranks/cuda_double/nccl_ranks";  // below bin
  std::map<std::string, std::string> environment;

  struct Ended {
    std::vector<int> status;  // as wait returns it
    std::vector<std::string> said;
    bool all_exited_0() const;
    std::string text() const;
  };
  // Runs in a new folder, which is removed afterwards. The ranks die with the test.
  Ended run() const;
};

// The versions that ./dev nccl has built, the oldest first; {"none"} if it was not run.
std::vector<std::string> built_nccl_versions();
// Suites instantiate "Nccl" with the newest version and "Soak" with the older ones, which the default run
// leaves out.
std::vector<std::string> newest_nccl_version();
std::vector<std::string> older_nccl_versions();
// A version as a part of a test's name: 2_29_7.
std::string version_name(const ::testing::TestParamInfo<std::string>& version);

}  // namespace rankfault::test
