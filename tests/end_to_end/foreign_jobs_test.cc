// foreign_jobs_test: the same oracles on jobs that do not know of rankfault: plain MPI under mpirun
// (Open MPI 4 and 5) and an unmarked PyTorch DDP script under torchrun; each in a read-only directory of its
// own, outside the repository.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

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

std::string openmpi5() {
  const char* prefix = std::getenv("RANKFAULT_OPENMPI5_PREFIX");
  return prefix ? prefix : "";
}

class ForeignJob : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    switch (GetParam().kind) {
      case Kind::kMpi4:
        if (!have_program("mpirun")) GTEST_SKIP() << "no mpirun";
        break;
      case Kind::kMpi5:
        if (openmpi5().empty()) GTEST_SKIP() << "no Open MPI 5 (RANKFAULT_OPENMPI5_PREFIX)";
        break;
      case Kind::kTorch:
        if (python().empty()) GTEST_SKIP() << "no PyTorch (RANKFAULT_PYTHON)";
        break;
    }
  }

  // The program alone, where nothing can be written and nothing of ours is near.
  std::string away() const { return scratch_.file("away"); }
  std::string program() const {
    const std::string bin = build_dir() + "/bin/ranks/";
    switch (GetParam().kind) {
      case Kind::kMpi4:
        return bin + "mpi/mpi_steps";
      case Kind::kMpi5:
        return bin + "ompi5/mpi_steps";
      case Kind::kTorch:
        break;
    }
    return source_dir() + "/tests/ranks/torch/ddp.py";
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
    const bool torch = GetParam().kind == Kind::kTorch;
    std::string yaml = torch ? torch_job(job) : mpi_job(job);
    const std::string there = torch ? program() : "{bin}/ranks/mpi/mpi_steps";
    const std::string name = std::filesystem::path(program()).filename();
    yaml.replace(yaml.find(there), there.size(), away() + "/" + name);
    std::string more = "  cwd: " + away() + "\n";
    if (GetParam().kind == Kind::kMpi5) more += "  mpirun: " + openmpi5() + "/bin/mpirun\n";
    yaml.insert(yaml.find("  ranks:"), more);
    return yaml;
  }

  // "mpi preload": of each layer in the record of each rank.
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
  if (GetParam().kind == Kind::kTorch)
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
                         testing::Values(Case{Kind::kMpi4, true}, Case{Kind::kMpi4, false},
                                         Case{Kind::kMpi5, true}, Case{Kind::kMpi5, false},
                                         Case{Kind::kTorch, true}, Case{Kind::kTorch, false}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace rankfault::test
