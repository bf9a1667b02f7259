// needs_test: a scenario that needs a part that was not built is skipped before launch, with the command that
// adds the part.
#include "harness/launch/needs.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "harness/launch/launcher.h"
#include "tests/launch/fixture.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;

class Needs : public testing::Test {
 protected:
  Status met(bool with_agent = true) const { return needs_met(workload_, scratch_ / "bin", with_agent); }
  void make(const std::string& file) const {
    std::filesystem::create_directories(std::filesystem::path(scratch_ / file).parent_path());
    std::ofstream(scratch_ / file) << "x";
  }
  void expect_missing(const std::string& reason, const std::string& command) const {
    const Status status = met();
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().kind, ErrorKind::kMissing);
    EXPECT_THAT(status.error().message, HasSubstr(reason));
    EXPECT_THAT(status.error().message, HasSubstr("to add it: " + command));
  }

  Scratch scratch_;
  Workload workload_;
};

TEST_F(Needs, NcclNeedsItsDecoder) {
  workload_.cuda_double = true;
  expect_missing("the NCCL decoder was not built", "./dev nccl");
  EXPECT_TRUE(met(false).ok());  // without the agent nothing is recorded
  make("lib/decoders/nccl.so");
  EXPECT_TRUE(met().ok());
}

TEST_F(Needs, AVersionOfNcclNeedsItsDecoder) {
  workload_.cuda_double = true;
  workload_.needs = {"nccl >= 2.27"};
  expect_missing("the NCCL decoder was not built", "./dev nccl");
}

TEST_F(Needs, TheTrainerMustHaveBeenBuilt) {
  workload_.needs = {"trainer"};
  workload_.command = {"{bin}/trainer", "--steps=1"};
  expect_missing("bin/trainer was not built", "apt-get install libgloo-dev && ./dev build");
  make("bin/trainer");
  EXPECT_TRUE(met().ok());
}

// Ranks that no torchrun starts have the Python that torchrun would use.
TEST_F(Needs, PyTorchIsNeededAlsoWithoutTorchrun) {
  make("python");
  std::ofstream(scratch_ / "python") << "#!/bin/sh\nprintf 2.13.0+cpu\n";
  std::filesystem::permissions(scratch_ / "python", std::filesystem::perms::owner_all);
  workload_.torchrun = scratch_ / "python";
  workload_.needs = {"torch_cuda"};
  expect_missing("PyTorch built with CUDA is needed", "./dev torch-nccl");
}

TEST_F(Needs, AVersionOfPyTorchIsNotAnOlderOne) {
  const auto lack = [&](const std::string& there, const std::string& need) {
    const std::string python = scratch_ / ("of" + there + "/python");  // the answer is remembered
    make("of" + there + "/python");
    std::ofstream(python) << "#!/bin/sh\nprintf " + there + "\n";
    std::filesystem::permissions(python, std::filesystem::perms::owner_all);
    workload_.torchrun = python;
    workload_.needs = {need};
    const Status status = met();
    EXPECT_TRUE(status.ok() || status.error().kind == ErrorKind::kMissing);
    return status.ok() ? "" : status.error().message;
  };
  EXPECT_THAT(lack("2.9.1+cu128", "torch >= 2.12"), HasSubstr("torch >= 2.12 is needed, but "));
  EXPECT_THAT(lack("2.9.1+cu128", "torch >= 2.12"), HasSubstr(" has 2.9.1+cu128"));
  EXPECT_EQ(lack("2.9.1+cu128", "torch >= 2.9"), "");
  EXPECT_EQ(lack("2.12.1", "torch >= 2.12"), "");
  EXPECT_EQ(lack("1.13.0a0+debian", "torch < 2"), "");
  EXPECT_THAT(lack("2.13.0", "torch < 2.13"), HasSubstr("torch < 2.13 is needed"));
}

TEST_F(Needs, AVersionOfOpenMpiIsNotAnotherOne) {
  const Launcher& mpirun = *Catalog<Launcher>::instance().find("mpirun");
  const auto refused = [&](const std::string& name, const std::string& says, const std::string& need) {
    make(name);
    workload_.mpirun = scratch_ / name;
    std::ofstream(workload_.mpirun) << "#!/bin/sh\necho '" + says + "'\n";
    std::filesystem::permissions(workload_.mpirun, std::filesystem::perms::owner_all);
    workload_.needs = {need};
    const Status status = mpirun.probe(workload_);
    EXPECT_TRUE(status.ok() || status.error().kind == ErrorKind::kMissing);
    return status.ok() ? "" : status.error().message;
  };
  EXPECT_EQ(refused("five", "mpirun (Open MPI) 5.0.7", "mpi"), "");
  EXPECT_EQ(refused("five", "mpirun (Open MPI) 5.0.7", "openmpi5"), "");
  EXPECT_THAT(refused("five", "mpirun (Open MPI) 5.0.7", "openmpi4"),
              HasSubstr("Open MPI 4 is needed, but this is Open MPI 5"));
  EXPECT_THAT(refused("hydra", "HYDRA build details:\n    Version: 5.0.2", "openmpi5"),
              HasSubstr("Open MPI 5 is needed"));
}

}  // namespace
}  // namespace rankfault::test
