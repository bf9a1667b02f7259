// worlds_test: real jobs in which processes other than the ranks communicate, ranks become other programs, or
// communicators come and go.
#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/support/mpirun_of.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Worlds : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"})
      ::setenv(name, "1", 1);
    ::setenv("OMP_NUM_THREADS", "1", 1);
    ::setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);  // also for spawned ranks
  }
  ToolRun watch(std::vector<std::string> options, const std::vector<std::string>& job) {
    std::vector<std::string> args{"watch", "--run-dir", scratch_.file("run")};
    args.insert(args.end(), options.begin(), options.end());
    args.push_back("--");
    args.insert(args.end(), job.begin(), job.end());
    return run_tool(args);
  }
  ToolRun watch_mpi(const std::string& how) {
    return watch({}, {mpirun_of("OpenMpi4"), "--oversubscribe", "-np", "2", "--mca", "btl", "self,vader,tcp",
                      mpi_programs_of("OpenMpi4") + "/mpi_worlds", "--how=" + how});
  }
  ToolRun watch_torch(const std::string& how) {
    return watch({}, {python(), source_dir() + "/tests/ranks/torch/spawned.py", "--how", how});
  }
  Json first_finding() {
    const auto findings = findings_of(scratch_.file("run"));
    return findings.empty() ? Json{{"kind", "no finding at all"}} : findings[0];
  }
  Scratch scratch_;
};

class MpiWorlds : public Worlds {
  void SetUp() override {
    Worlds::SetUp();
    if (!have_program(mpirun_of("OpenMpi4"))) GTEST_SKIP() << "no OpenMpi4";
  }
};

TEST_F(MpiWorlds, ADeathIsProvenAfterManyCommunicators) {
  const ToolRun tool = watch_mpi("many_comms");
  EXPECT_EQ(tool.status, 1) << tool.output;
  const Json first = first_finding();
  EXPECT_EQ(first["kind"], "dead_rank") << tool.output;
  EXPECT_EQ(first["confidence"], "proven") << tool.output;
  EXPECT_EQ(first["op"], "barrier") << tool.output;
}

TEST_F(MpiWorlds, AWorldThatRanksSpawnIsNoTrouble) {
  const ToolRun tool = watch_mpi("spawn");
  EXPECT_EQ(tool.status, 0) << tool.output;
}

TEST_F(MpiWorlds, ARankMayBecomeAnotherProgramWhenItIsDone) {
  const ToolRun tool = watch_mpi("exec_after");
  EXPECT_EQ(tool.status, 0) << tool.output;
}

TEST_F(MpiWorlds, ARankThatBecomesAnotherProgramBeforeItIsDoneIsNamed) {
  const ToolRun tool = watch_mpi("exec_before");
  EXPECT_EQ(tool.status, 1) << tool.output;
  const Json first = first_finding();
  EXPECT_EQ(first["kind"], "exited_rank") << tool.output;
  EXPECT_THAT(first["ranks"].get<std::vector<int>>(), ElementsAre(1)) << tool.output;
}

class TorchWorlds : public Worlds {
  void SetUp() override {
    Worlds::SetUp();
    if (python().empty()) GTEST_SKIP() << "no PyTorch (RANKFAULT_PYTHON)";
  }
};

// torch.multiprocessing.spawn: all ranks have the environment of the parent. At first such ranks know only
// the names of their groups, and these names repeat.
TEST_F(TorchWorlds, GroupsThatAreMadeAnewAreNoTrouble) {
  ::setenv("TORCH_GLOO_LAZY_INIT", "1", 1);
  const ToolRun tool = watch_torch("anew");
  ::unsetenv("TORCH_GLOO_LAZY_INIT");
  EXPECT_EQ(tool.status, 0) << tool.output;
}

TEST_F(TorchWorlds, TheDeathOfARankIsReportedAfterItsHelperEnded) {
  const ToolRun tool = watch_torch("helper");
  EXPECT_EQ(tool.status, 1) << tool.output;
  const Json first = first_finding();
  EXPECT_EQ(first["kind"], "dead_rank") << tool.output;
  EXPECT_THAT(first["ranks"].get<std::vector<int>>(), ElementsAre(2)) << tool.output;
  EXPECT_THAT(tool.output, Not(HasSubstr("duplicate_rank")));
}

}  // namespace
}  // namespace rankfault::test
