// foreign_jobs_test: the same oracles on jobs that do not know rankfault: plain MPI under mpirun (Open MPI 4
// and 5, MPICH 4 and 5) and an unmarked PyTorch DDP script under torchrun, each in its own read-only
// directory outside the repository.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

#include "tests/end_to_end/jobs.h"
#include "tests/support/mpirun_of.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

struct Case {
  const char* what;  // an MPI by its name (mpirun_of), or "Torch"
  bool pidfd_info;
  friend void PrintTo(const Case& c, std::ostream* out) {
    *out << c.what << (c.pidfd_info ? "" : "WithoutKernelExitInformation");
  }
};

class ForeignJob : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (is_torch() && python().empty()) GTEST_SKIP() << "no PyTorch (RANKFAULT_PYTHON)";
    if (!is_torch() && !have_program(mpirun())) GTEST_SKIP() << "no " << GetParam().what;
  }

  bool is_torch() const { return std::string(GetParam().what) == "Torch"; }
  std::string mpirun() const { return mpirun_of(GetParam().what); }

  // A folder with only the program, in which nothing can be written, outside rankfault's folders.
  std::string away() const { return scratch_.file("away"); }
  std::string program() const {
    return is_torch() ? source_dir() + "/tests/ranks/torch/ddp.py"
                      : mpi_programs_of(GetParam().what) + "/mpi_steps";
  }
  void move_away() const {
    namespace fs = std::filesystem;
    if (fs::exists(away())) return;
    fs::create_directory(away());
    fs::copy(program(), away());
    fs::permissions(away(), fs::perms::owner_write, fs::perm_options::remove);
  }
  void TearDown() override {
    std::error_code none;
    std::filesystem::permissions(away(), std::filesystem::perms::owner_write,
                                 std::filesystem::perm_options::add, none);
  }

  std::string text(Job job) const {
    job.wall = "60s";
    const bool torch = is_torch();
    std::string yaml = torch ? torch_job(job) : mpi_job(job);
    const std::string there = torch ? program() : "{bin}/ranks/mpi/mpi_steps";
    const std::string name = std::filesystem::path(program()).filename();
    yaml.replace(yaml.find(there), there.size(), away() + "/" + name);
    std::string more = "  cwd: " + away() + "\n";
    if (!torch) more += "  mpirun: " + mpirun() + "\n";
    yaml.insert(yaml.find("  ranks:"), more);
    return yaml;
  }

  // "mpi preload": one entry for each layer in the record of each rank.
  std::set<std::string> coverage() const {
    std::set<std::string> seen;
    std::istringstream journal(read_file(scratch_.file("run/journal.ndjson")));
    for (std::string line; std::getline(journal, line);)
      for (const Json& c : Json::parse(line).value("coverage", Json::array()))
        seen.insert(c["library"].get<std::string>() + " " + c["hook"].get<std::string>());
    return seen;
  }

  ToolRun run(const Job& job) {
    move_away();
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
  if (is_torch())
    EXPECT_EQ(coverage(), (std::set<std::string>{"c10d preload", "gloo preload"}));
  else
    EXPECT_EQ(coverage(), (std::set<std::string>{"mpi preload"}));
  size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(away()))
    files += entry.exists() ? 1 : 0;
  EXPECT_EQ(files, 1u) << "something was written beside the program";
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
                         testing::Values(Case{"OpenMpi4", true}, Case{"OpenMpi4", false},
                                         Case{"OpenMpi5", true}, Case{"OpenMpi5", false},
                                         Case{"Mpich4", true}, Case{"Mpich5", true}, Case{"Mpich5", false},
                                         Case{"MpiStandard", true}, Case{"Torch", true}),
                         testing::PrintToStringParamName());
// Ten seconds each. MPI's jobs above already test how an older kernel reports an end.
INSTANTIATE_TEST_SUITE_P(Soak, ForeignJob, testing::Values(Case{"Torch", false}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace rankfault::test
