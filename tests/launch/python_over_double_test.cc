// python_over_double_test: a Python that no torchrun starts is refused if its PyTorch would load NVIDIA's own
// libraries.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "harness/launch/cuda_double.h"
#include "harness/launch/launcher.h"
#include "tests/launch/fixture.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

class PythonOverDouble : public GuardianTest {
 protected:
  void SetUp() override {
    GuardianTest::SetUp();
    workload().ranks = 2;
    workload().launcher = LauncherKind::kLocal;
    // What PyTorch looks for beside itself, NVIDIA's own library there, and the double.
    put("bin/launch_torch", "site-packages/torch/lib/libtorch_cuda.so");
    put("lib/launch/runtime/libcudart.so.99", "site-packages/nvidia/cu99/lib/libcudart.so.99");
    put("lib/launch/runtime/libcudart.so.99", "double/libcudart.so.99");
    // A Python that gives one answer: the version of its PyTorch, and where its libraries are.
    python_ = write("python3", "#!/bin/sh\nprintf '2.12.1\\n" + scratch_ / "site-packages/torch/lib" + "'\n");
    train_ = write("train.py", "import torch\n");
  }
  void put(const std::string& built, const std::string& file) const {
    fs::create_directories(fs::path(scratch_ / file).parent_path());
    fs::copy_file(std::string(std::getenv("RANKFAULT_BUILD_DIR")) + "/" + built, scratch_ / file);
  }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(scratch_ / name) << text;
    fs::permissions(scratch_ / name, fs::perms::owner_all);
    return scratch_ / name;
  }
  // Why the command may not start over the double; "": it may.
  std::string refused(const std::vector<std::string>& command) {
    workload().command = command;
    const CudaDouble cuda{"2.29.7", scratch_ / "double/nccl", scratch_ / "double"};
    const Status status = check_workload({plan_, *run_, 0, "/the/bin", "", {}, &cuda});
    return status ? "" : status.error().message;
  }
  Workload& workload() { return plan_.scenario.workload; }

  Plan plan_;
  std::string python_, train_;
};

TEST_F(PythonOverDouble, IsRefusedIfItsScriptImportsTorchAndTheLoaderWouldTakeNvidiasOwnLibrary) {
  EXPECT_THAT(refused({python_, train_}), HasSubstr("uninstall the packages nvidia-*"));
  EXPECT_THAT(refused({python_, "-c", "import torch"}), HasSubstr("and not the double of CUDA"));
}

TEST_F(PythonOverDouble, AlsoAsACommandAndAsAScriptThatNamesIt) {
  workload().launcher = LauncherKind::kCommand;
  EXPECT_THAT(refused({python_, train_}), HasSubstr("and not the double of CUDA"));
  const std::string own = write("own.py", "#!" + python_ + "\nimport torch\n");
  EXPECT_THAT(refused({own}), HasSubstr("and not the double of CUDA"));
}

TEST_F(PythonOverDouble, AScriptThatDoesNotImportTorchMayUseCudaInAnotherWay) {
  const std::string other = write("other-torch.py", "import ctypes  # not torch\nimport torchless\n");
  EXPECT_EQ(refused({python_, other}), "") << "its name does not count";
  EXPECT_EQ(refused({python_, other, "--out=/tmp/torch-runs", train_}), "")
      << "the arguments of the script do not count";
  EXPECT_EQ(refused({python_, "-m", "torchless"}), "");
}

TEST_F(PythonOverDouble, RunsWithoutNvidiasLibrariesBesideIt) {
  fs::remove_all(scratch_ / "site-packages/nvidia");
  EXPECT_EQ(refused({python_, train_}), "");
}

}  // namespace
}  // namespace rankfault::test
