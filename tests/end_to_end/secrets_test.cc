// secrets_test: a secret that a job gets is in only one file of its run directory, and only the owner can
// read that file.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/mpirun_of.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kPlanted = "pl4nted";

// The files below a folder that contain the text.
std::vector<std::string> files_with(const std::string& folder, const std::string& text) {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && read_file(entry.path()).find(text) != std::string::npos)
      found.push_back(fs::relative(entry.path(), folder));
  return found;
}

unsigned mode_of(const std::string& path) {
  struct stat st {};
  return ::stat(path.c_str(), &st) == 0 ? st.st_mode & 07777u : 0;
}

void expect_one_secret_file(const std::string& run) {
  EXPECT_EQ(files_with(run, kPlanted), std::vector<std::string>{"plan.json"});
  EXPECT_EQ(mode_of(run + "/plan.json"), 0600u);
  EXPECT_EQ(mode_of(run), 0700u);
}

// Leaves a process behind, whose command the census records, and gets secrets in every way.
class SecretJob : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("MY_SECRET", kPlanted, 1);
    scenario_ = scratch_.write(
        "secret.yaml",
        "version: 1\nname: secret\nsummary: \"It is told secrets.\"\nworkload:\n  launcher: local\n  ranks: "
        "1\n"
        "  command: [/bin/sh, -c, \"while :; do sleep 1; done & exit 0\", sh, --api-key=pl4nted, --token, "
        "\"pl4nted two\", DB_PASSWORD=pl4nted]\n"
        "  env: {HF_TOKEN: pl4nted, COLOUR: red}\n  limits: {wall: 20s}\n"
        "expect:\n  - left_nothing: [processes]\n");
  }
  void TearDown() override { ::unsetenv("MY_SECRET"); }
  Scratch scratch_;
  std::string scenario_, run_ = scratch_.file("run");
};

TEST_F(SecretJob, ItsSecretsStandInOneFileOfTheRun) {
  const ToolRun tool = run_tool({"run", "--run-dir", run_, "--junit", scratch_.file("junit.xml"), scenario_});
  EXPECT_EQ(tool.status, 1) << "a process is left: " << tool.output;
  expect_one_secret_file(run_);
  EXPECT_THAT(tool.output, Not(HasSubstr(kPlanted)));
  EXPECT_THAT(read_file(scratch_.file("junit.xml")), Not(HasSubstr(kPlanted)));
  EXPECT_THAT(read_file(run_ + "/journal.ndjson"), HasSubstr("--api-key=***"));
}

TEST_F(SecretJob, ACopyIsJudgedTheSame) {
  const ToolRun tool = run_tool({"run", "--run-dir", run_, scenario_});
  const std::string copy = scratch_.file("copy");
  fs::copy(run_, copy, fs::copy_options::recursive);
  const ToolRun first = run_tool({"judge", "--json", run_}), again = run_tool({"judge", "--json", copy});
  EXPECT_EQ(first.output, again.output);
  EXPECT_EQ(again.output, read_file(run_ + "/result.json")) << tool.output;
  EXPECT_THAT(again.output, Not(HasSubstr(kPlanted)));
}

TEST_F(SecretJob, APlanShowsNone) {
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"plan", scenario_}, std::vector<std::string>{"plan", "--json", scenario_}}) {
    const ToolRun tool = run_tool(args);
    EXPECT_EQ(tool.status, 0) << tool.output;
    EXPECT_THAT(tool.output, Not(HasSubstr(kPlanted)));
    EXPECT_THAT(tool.output, HasSubstr("--token"));
  }
}

// The ranks' commands are in the evidence, and the launcher's words in the journal.
TEST(SecretMpiJob, ItsEvidenceShowsNone) {
  if (!have_program(mpirun_of("OpenMpi4"))) GTEST_SKIP() << "no Open MPI 4";
  const Scratch scratch;
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"})
    ::setenv(name, "1", 1);
  const std::string run = scratch.file("run");
  const ToolRun tool = run_tool(
      {"watch", "--run-dir", run, "--end-on-finding", "--after", "1s", "--hung-after", "2s", "--",
       mpirun_of("OpenMpi4"), "--oversubscribe", "-np", "2", "-x", std::string("API_KEY=") + kPlanted,
       mpi_programs_of("OpenMpi4") + "/mpi_hang", "--how=sleep", "--secret", kPlanted},
      {{"MY_SECRET", kPlanted}});
  EXPECT_EQ(tool.status, 1) << tool.output;
  expect_one_secret_file(run);
  EXPECT_THAT(tool.output, Not(HasSubstr(kPlanted)));
  EXPECT_THAT(read_file(run + "/evidence/rank-1.json"), HasSubstr("--secret ***"));
}

}  // namespace
}  // namespace rankfault::test
