// long_jobs_test: `watch` on jobs that make more calls than the tool keeps, and that execute more programs
// than the tool may have files open.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/mpirun_of.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class LongJob : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"})
      ::setenv(name, "1", 1);
    if (!have_program("mpirun") || !std::filesystem::exists(program())) GTEST_SKIP() << "no Open MPI";
  }
  static std::string program() { return build_dir() + "/bin/ranks/mpi_long"; }
  std::string run() const { return scratch_.file("run"); }
  ToolRun watch(const std::vector<std::string>& job, const std::map<std::string, std::string>& env = {}) {
    std::vector<std::string> args{"watch", "--run-dir", run(), "--", "mpirun", "--oversubscribe", "-np", "2"};
    args.insert(args.end(), job.begin(), job.end());
    return run_tool(args, env);
  }
  std::vector<Json> journal(const std::string& event) const {
    std::vector<Json> lines;
    std::ifstream file(run() + "/journal.ndjson");
    for (std::string line; std::getline(file, line);)
      if (Json json = Json::parse(line); json["ev"] == event) lines.push_back(std::move(json));
    return lines;
  }
  Scratch scratch_;
};

TEST_F(LongJob, WhoDiedIsProvenWhenItsFirstCallsAreNoLongerKept) {
  const ToolRun watched =
      watch({program(), "20000", scratch_.path(), "2000"}, {{"RANKFAULT_WINDOW_CALLS", "64"}});
  EXPECT_EQ(watched.status, 1) << watched.output;
  EXPECT_THAT(watched.output, HasSubstr("dead_rank: rank 1"));
  EXPECT_THAT(watched.output, HasSubstr("proven"));
  EXPECT_THAT(watched.output, HasSubstr("the newest 64 calls of each thread"));
  ASSERT_EQ(journal("history").size(), 1u);
  EXPECT_GT(journal("history")[0]["let_go"].get<uint64_t>(), 10'000u);

  const ToolRun again = run_tool({"diagnose", run()});
  std::vector<Json> found = findings_of(run());
  ASSERT_FALSE(found.empty());
  EXPECT_THAT(again.output, HasSubstr(found.front()["text"].get<std::string>()));
  EXPECT_THAT(again.output, Not(HasSubstr("records of a look")));
}

TEST_F(LongJob, ARunWhoseRecordsWereCutIsNotCalledHealthy) {
  const ToolRun watched = watch({program(), "2000", "-"});
  ASSERT_EQ(watched.status, 0) << watched.output;
  EXPECT_EQ(run_tool({"diagnose", run()}).status, 0);
  for (const auto& file : std::filesystem::directory_iterator(run() + "/records"))
    if (file.path().extension() == ".ring") std::filesystem::resize_file(file.path(), 5000);
  const ToolRun cut = run_tool({"diagnose", run()});
  EXPECT_EQ(cut.status, 2) << cut.output;
  EXPECT_THAT(cut.output, HasSubstr("a part of the file is missing"));
}

TEST_F(LongJob, ProgramsThatRanksExecuteLeaveNothing) {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  rlimit few = before;
  few.rlim_cur = 64;
  ::setrlimit(RLIMIT_NOFILE, &few);
  const ToolRun watched =
      watch({"sh", "-c", "i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i+1)); done; exec \"$0\" 2000 -",
             program()});
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(watched.status, 0) << watched.output;
  size_t rings = 0;
  for (const auto& file : std::filesystem::directory_iterator(run() + "/records"))
    rings += file.path().extension() == ".ring";
  EXPECT_LE(rings, 8u)
      << "of the 200 programs none is left; each shell and the rank that it becomes have one";
  EXPECT_LE(journal("process").size(), 16u);
}

// A rank that cuts its own record affects only itself.
TEST_F(LongJob, ARankMayCutItsRecord) {
  const ToolRun watched = watch({"sh", "-c",
                                 "\"$0\" 20000 - 5000 & sleep 0.5; for f in "
                                 "\"$RANKFAULT_RUN_DIR\"/records/*.ring; do : > \"$f\"; done; wait; exit 0",
                                 program()});
  EXPECT_THAT(watched.output, HasSubstr("the job ended")) << "status " << watched.status;
  EXPECT_NE(watched.status, 135);
}

}  // namespace
}  // namespace rankfault::test
