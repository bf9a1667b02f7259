// foreign_jobs_test: the same oracles on jobs that do not know of rankfault: plain MPI under mpirun
// (Open MPI 4 and 5) and an unmarked PyTorch DDP script under torchrun.
#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/end_to_end/jobs.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

enum class Kind { kMpi4, kMpi5, kTorch };

struct Case {
  Kind kind;
  bool pidfd_info;
  friend void PrintTo(const Case& c, std::ostream* out) {
    *out << (c.kind == Kind::kMpi4   ? "OpenMpi4"
             : c.kind == Kind::kMpi5 ? "OpenMpi5"
                                     : "Torch")
         << (c.pidfd_info ? "" : "WithoutKernelExitInformation");
  }
};

class ForeignJob : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    switch (GetParam().kind) {
      case Kind::kMpi4:
        if (!have_program("mpirun")) GTEST_SKIP() << "no mpirun";
        break;
      case Kind::kMpi5:
        if (!std::getenv("RANKFAULT_OPENMPI5_PREFIX"))
          GTEST_SKIP() << "no Open MPI 5 (RANKFAULT_OPENMPI5_PREFIX)";
        break;
      case Kind::kTorch:
        if (python().empty()) GTEST_SKIP() << "no PyTorch (RANKFAULT_PYTHON)";
        break;
    }
  }

  std::string text(Job job) const {
    job.wall = "60s";
    if (GetParam().kind == Kind::kTorch) return torch_job(job);
    std::string yaml = mpi_job(job);
    if (GetParam().kind == Kind::kMpi5) {
      const std::string prefix = std::getenv("RANKFAULT_OPENMPI5_PREFIX");
      yaml.replace(yaml.find("{bin}/ranks/mpi/mpi_steps"), 25, "{bin}/ranks/ompi5/mpi_steps");
      yaml.insert(yaml.find("  ranks:"), "  mpirun: " + prefix + "/bin/mpirun\n");
    }
    return yaml;
  }

  ToolRun run(const Job& job) {
    std::map<std::string, std::string> env;
    if (!GetParam().pidfd_info) env["RANKFAULT_NO_PIDFD_INFO"] = "1";
    return run_tool({"run", scratch_.write("scenario.yaml", text(job)), "--run-dir", scratch_.file("run")},
                    env);
  }

  Scratch scratch_;
};

TEST_P(ForeignJob, IsHealthyUnderTheAgent) {
  const ToolRun tool = run({.expect = "  - blamed: {kind: none}\n  - ended: {ranks: all, exit: zero}\n"
                                      "  - left_nothing: [processes, shm, sockets, temp_files]\n"});
  EXPECT_EQ(tool.status, 0) << tool.output;
}

TEST_P(ForeignJob, NamesTheKilledRank) {
  const ToolRun tool = run({.fault = "{id: kill, kind: rank_kill, ranks: [2], at: {op: all_reduce, nth: 5}}",
                            .expect = "  - blamed: {kind: dead_rank, ranks: [2], op: all_reduce}\n"
                                      "  - ended: {ranks: [2], exit: SIGKILL}\n"});
  EXPECT_EQ(tool.status, 0) << tool.output;
}

TEST_P(ForeignJob, NamesTheRankThatLeftOutACall) {
  const ToolRun tool = run(
      {.fault = "{id: skip, kind: skip_call, ranks: [1], at: {op: all_reduce, nth: 6}}",
       .expect =
           "  - blamed: {any_of: [{kind: missing_call, ranks: [1]}, {kind: call_mismatch, ranks: [1]}]}\n"});
  EXPECT_EQ(tool.status, 0) << tool.output;
}

INSTANTIATE_TEST_SUITE_P(Jobs, ForeignJob,
                         testing::Values(Case{Kind::kMpi4, true}, Case{Kind::kMpi4, false},
                                         Case{Kind::kMpi5, true}, Case{Kind::kTorch, true},
                                         Case{Kind::kTorch, false}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace rankfault::test
