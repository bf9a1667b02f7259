// torch_over_double_test: which PyTorch the double of CUDA can serve, from small libraries that stand for
// PyTorch's.
#include "harness/launch/torch_over_double.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

namespace rankfault {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

class TorchOverDouble : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/rf-torch-XXXXXX";
    root_ = ::mkdtemp(name);
    libraries_ = root_ + "/site-packages/torch/lib";
  }
  void TearDown() override { fs::remove_all(root_); }

  // Copies a file of the build.
  void put(const std::string& built, const std::string& path) const {
    fs::create_directories(fs::path(path).parent_path());
    fs::copy_file(std::string(std::getenv("RANKFAULT_BUILD_DIR")) + "/" + built, path);
  }
  // Needs cudaOfTheFuture of libcudart.so.99, and looks for it in ../../nvidia/cu99/lib first, as PyTorch
  // does.
  void put_torch() const { put("bin/launch_torch", libraries_ + "/libtorch_cuda.so"); }
  void put_double(const std::string& which) const {
    put("lib/launch/" + which + "/libcudart.so.99", root_ + "/double/libcudart.so.99");
  }
  std::string checked() const {
    const CudaDouble cuda{"2.29.7", root_ + "/double/nccl", root_ + "/double"};
    const Status status = check_torch_over_double(cuda, {"2.12.1", "/bin/python", libraries_}, {});
    return status ? "" : status.error().message;
  }

  std::string root_, libraries_;
};

TEST_F(TorchOverDouble, IsRefusedWithoutCuda) {
  put("bin/launch_torch", libraries_ + "/libtorch_cpu.so");
  EXPECT_THAT(checked(), HasSubstr("PyTorch 2.12.1 of /bin/python is built without CUDA"));
  EXPECT_THAT(checked(), HasSubstr("./dev torch-nccl"));
}

TEST_F(TorchOverDouble, RunsIfTheDoubleHasAllThatItImports) {
  put_torch();
  put_double("runtime");
  EXPECT_EQ(checked(), "");
}

TEST_F(TorchOverDouble, IsRefusedIfTheDoubleLacksALibrary) {
  put_torch();
  EXPECT_THAT(checked(), HasSubstr("needs libcudart.so.99, which has no double in "));
}

TEST_F(TorchOverDouble, IsRefusedIfTheDoubleLacksAFunctionAndNamesIt) {
  put_torch();
  put_double("other");
  EXPECT_THAT(checked(), HasSubstr("calls functions that the double of CUDA lacks: cudaOfTheFuture ("));
}

TEST_F(TorchOverDouble, IsRefusedIfTheLoaderWouldTakeNvidiasOwnLibrary) {
  put_torch();
  put_double("runtime");
  put("lib/launch/runtime/libcudart.so.99", root_ + "/site-packages/nvidia/cu99/lib/libcudart.so.99");
  EXPECT_THAT(checked(),
              HasSubstr("would load " + root_ +
                        "/site-packages/nvidia/cu99/lib/libcudart.so.99 and not the double of CUDA"));
  EXPECT_THAT(checked(), HasSubstr("uninstall the packages nvidia-*"));
}

}  // namespace
}  // namespace rankfault
