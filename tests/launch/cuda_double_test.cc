// cuda_double_test: which NCCL a job over the double gets, and which programs the double cannot serve.
#include "harness/launch/cuda_double.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "harness/base/nccl_version.h"
#include "harness/launch/needs.h"

namespace rankfault {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

namespace fs = std::filesystem;

class CudaDoubles : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/rf-cuda-XXXXXX";
    root_ = ::mkdtemp(name);
    workload_.ranks = 2;
  }
  void TearDown() override { fs::remove_all(root_); }

  void build(const std::string& version) {
    fs::create_directories(root_ + "/lib/cuda_double/nccl-" + version);
    std::ofstream(root_ + "/lib/cuda_double/nccl-" + version + "/libnccl.so.2") << "x";
  }
  Result<CudaDouble> choose() { return choose_cuda_double(workload_, root_ + "/bin"); }
  std::string checked(const std::string& program) {
    const Status status = check_cuda_double({"2.29.7", "", root_ + "/lib/cuda_double"}, workload_, program);
    return status ? "" : status.error().message;
  }
  static std::string built(const std::string& name) {
    return std::string(std::getenv("RANKFAULT_BUILD_DIR")) + "/" + name;
  }

  std::string root_;
  Workload workload_;
};

TEST_F(CudaDoubles, TheNewestThatTheNeedsAllow) {
  for (const char* version : {"2.9.1", "2.22.3", "2.29.7"}) build(version);
  fs::create_directories(root_ + "/lib/cuda_double/nccl-2.31.0");  // a build that did not finish
  EXPECT_THAT(nccl_over_double(root_ + "/bin"), ElementsAre("2.29.7", "2.22.3", "2.9.1"));
  EXPECT_EQ(choose()->nccl, "2.29.7");
  workload_.needs = {"nccl < 2.23", "nccl >= 2.9"};
  EXPECT_EQ(choose()->nccl, "2.22.3");
  workload_.nccl = "2.9.1";
  EXPECT_EQ(choose()->nccl, "2.9.1");
  workload_.nccl = "2.29.7";
  EXPECT_EQ(choose().error().kind, ErrorKind::kMissing);
}

TEST_F(CudaDoubles, NothingBuiltIsMissing) {
  EXPECT_EQ(choose().error().kind, ErrorKind::kMissing);
  EXPECT_THAT(choose().error().message, HasSubstr("./dev nccl"));
}

TEST_F(CudaDoubles, WordsOfVersions) {
  EXPECT_EQ(nccl_version("2.27"), (NcclVersion{2, 27, 0}));
  for (const char* word : {"", "2.", "2.27.3.1", "v2", "2.-1", "2.27x"})
    EXPECT_FALSE(nccl_version(word)) << word;
  EXPECT_TRUE(nccl_need("nccl>=2.27"));
  EXPECT_TRUE(nccl_need("nccl  <  2.23.4")->below);
  for (const char* word : {"nccl", "nccl > 2", "nccl >= ", "mpi >= 4"}) EXPECT_FALSE(nccl_need(word)) << word;
}

TEST_F(CudaDoubles, AProgramThatNeedsNoCudaIsLeftAlone) {
  EXPECT_EQ(checked("/bin/true"), "");
  EXPECT_EQ(checked(root_ + "/none"), "");
}

TEST_F(CudaDoubles, ARuntimeOfWhichThereIsNoDouble) {
  EXPECT_THAT(checked(built("bin/launch_cuda_new")), HasSubstr("libcudart.so.99, which has no double"));
}

TEST_F(CudaDoubles, ACallThatTheDoubleLacks) {
  fs::create_directories(root_ + "/lib/cuda_double");
  // "the double" here is a library that defines none of the names
  fs::copy_file(built("lib/launch/other/libcudart.so.99"), root_ + "/lib/cuda_double/libcudart.so.99");
  EXPECT_THAT(checked(built("bin/launch_cuda_new")),
              HasSubstr("calls functions that the double of libcudart.so.99 lacks: cudaOfTheFuture"));
}

TEST_F(CudaDoubles, ARuntimeLinkedInStatically) {
  EXPECT_THAT(checked(built("bin/launch_cuda_static")),
              HasSubstr("linked statically, so the double cannot replace it: link it shared"));
}

TEST_F(CudaDoubles, OfAGpuOnlyAMachineThatHasOne) {
  workload_.needs = {"nccl >= 2.20"};
  workload_.cuda_double = true;
  EXPECT_TRUE(needs_met(workload_, root_ + "/bin", false));
  workload_.cuda_double = false;
  EXPECT_EQ(needs_met(workload_, root_ + "/bin", false).ok(), ::access("/dev/nvidiactl", R_OK | W_OK) == 0);
}

TEST_F(CudaDoubles, WhatTheRanksAreTold) {
  std::map<std::string, std::string> env{{"LD_LIBRARY_PATH", "/own"}};
  add_cuda_double({"2.29.7", "/d/nccl", "/d"}, 8, "/meet", env);
  EXPECT_EQ(env["LD_LIBRARY_PATH"], "/d/nccl:/d:/own");
  EXPECT_EQ(env["RANKFAULT_CUDA_FOLDER"], "/meet");
  EXPECT_EQ(env["NCCL_CUMEM_HOST_ENABLE"], "0");
}

TEST_F(CudaDoubles, ThereAreAsManyDevicesAsRanks) {
  const auto devices = [](int ranks, std::map<std::string, std::string> env) {
    add_cuda_double({"2.29.7", "/d/nccl", "/d"}, ranks, "/meet", env);
    return env.count("RANKFAULT_CUDA_DEVICES") ? env["RANKFAULT_CUDA_DEVICES"] : "";
  };
  EXPECT_EQ(devices(8, {}), "") << "the double has as many by itself";
  EXPECT_EQ(devices(16, {}), "16");
  EXPECT_EQ(devices(16, {{"RANKFAULT_CUDA_DEVICES", "4"}}), "4") << "the user's own";
}

}  // namespace
}  // namespace rankfault
