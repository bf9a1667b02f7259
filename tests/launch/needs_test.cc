// needs_test: a scenario that needs a part that was not built is skipped before launch, with the command that
// adds it.
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
  EXPECT_TRUE(met(false).ok());  // without the agent nothing is recorded anyway
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

TEST_F(Needs, OpenMpi4IsNotOpenMpi5) {
  make("mpirun");
  workload_.mpirun = scratch_ / "mpirun";
  std::ofstream(workload_.mpirun) << "#!/bin/sh\necho 'mpirun (Open MPI) 5.0.7'\n";
  std::filesystem::permissions(workload_.mpirun, std::filesystem::perms::owner_all);
  const Launcher& mpirun = *Catalog<Launcher>::instance().find("mpirun");
  EXPECT_TRUE(mpirun.probe(workload_).ok());
  workload_.needs = {"openmpi4"};
  const Status status = mpirun.probe(workload_);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kMissing);
  EXPECT_THAT(status.error().message, HasSubstr("Open MPI 4 is needed, and this is Open MPI 5"));
}

}  // namespace
}  // namespace rankfault::test
