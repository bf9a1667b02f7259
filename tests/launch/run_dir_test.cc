// RunDir: it is made once, and found in the right state.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "harness/launch/gather.h"
#include "tests/launch/fixture.h"

namespace rankfault::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class RunDirTest : public ::testing::Test {
 protected:
  std::optional<RunDir> make(const std::string& path) {
    Result<RunDir> run = RunDir::create(path, "a scenario/with odd: name");
    EXPECT_TRUE(run.ok()) << run.error().to_string();
    if (!run.ok()) return std::nullopt;
    tmp_.push_back(run->tmp());
    return std::move(*run);
  }
  void TearDown() override {
    for (const std::string& tmp : tmp_) std::filesystem::remove_all(tmp);
  }
  Scratch scratch_;
  std::vector<std::string> tmp_;
};

TEST_F(RunDirTest, RefusesADirectoryThatExists) {
  std::filesystem::create_directory(scratch_ / "there");
  const auto run = RunDir::create(scratch_ / "there", "x");
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().kind, ErrorKind::kRefused);
  EXPECT_THAT(run.error().message, HasSubstr("exists"));
  EXPECT_TRUE(std::filesystem::is_empty(scratch_ / "there"));
}

// For the writer, a file that may not grow is the same as a full disk.
TEST_F(RunDirTest, OfOneThatTheDiskRefusesNothingIsLeft) {
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit full{0, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &full);
  const auto run = RunDir::create(scratch_ / "full", "x");
  ::setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().kind, ErrorKind::kHost);
  EXPECT_THAT(run.error().message, HasSubstr("state.json"));
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "full"));
}

TEST_F(RunDirTest, DiscardedItIsGoneWithItsTemporaryDirectory) {
  auto run = make(scratch_ / "run");
  ASSERT_TRUE(run);
  const std::string path = run->path(), tmp = run->tmp();
  EXPECT_EQ(run->discard(), "");
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(tmp));
}

TEST_F(RunDirTest, ATemporaryDirectoryThatIsNotEmptyIsNamedAndLeft) {
  auto run = make(scratch_ / "run");
  ASSERT_TRUE(run);
  std::ofstream(run->tmp() + "/file") << "x";
  EXPECT_THAT(run->discard(), HasSubstr("rankfault clean " + run->path()));
  EXPECT_TRUE(std::filesystem::exists(run->path() + "/undo"));
}

TEST_F(RunDirTest, MakesParentsAndAShortTemporaryDirectory) {
  const auto run = make(scratch_ / "a/b/c/");
  ASSERT_TRUE(run);
  EXPECT_EQ(run->path(), scratch_ / "a/b/c");
  EXPECT_TRUE(std::filesystem::is_directory(run->records()) && std::filesystem::is_directory(run->logs()));
  EXPECT_LT(run->tmp().size(), 20u);
  EXPECT_EQ(read_text(run->undo()), "remove-dir " + run->tmp() + "\n");
}

std::string mode_of(const std::string& path) {
  struct stat st {};
  return ::stat(path.c_str(), &st) == 0 ? fmt::format("{:o}", st.st_mode & 07777u) : "none";
}

TEST_F(RunDirTest, IsItsOwnersAlone) {
  const auto run = make(scratch_ / "run");
  ASSERT_TRUE(run && run->write_secret_json("plan.json", {{"token", "XYZ"}}).ok());
  for (const std::string& folder : {run->path(), run->records(), run->logs()})
    EXPECT_EQ(mode_of(folder), "700");
  EXPECT_EQ(mode_of(run->file("plan.json")), "600");
  EXPECT_THAT(read_text(run->file("plan.json")), HasSubstr("XYZ"));
  ASSERT_TRUE(run->write_json("other.json", {{"token", "XYZ"}}).ok());
  EXPECT_THAT(read_text(run->file("other.json")), HasSubstr("***"));
}

// The scratch space that a cluster gives to a job.
class UsersTmpdir : public RunDirTest {
 protected:
  void set(const std::string& path) { ::setenv("TMPDIR", path.c_str(), 1); }
  void TearDown() override {
    before_ ? ::setenv("TMPDIR", before_->c_str(), 1) : ::unsetenv("TMPDIR");
    RunDirTest::TearDown();
  }
  std::optional<std::string> before_ =
      std::getenv("TMPDIR") ? std::optional<std::string>(std::getenv("TMPDIR")) : std::nullopt;
};

TEST_F(UsersTmpdir, TheRunsFolderLiesInside) {
  std::filesystem::create_directory(scratch_ / "job");
  set(scratch_ / "job/");
  const auto run = make(scratch_ / "run");
  ASSERT_TRUE(run);
  EXPECT_THAT(run->tmp(), StartsWith(scratch_ / "job/rf."));
  EXPECT_EQ(run->job_tmpdir(), run->tmp());
}

TEST_F(UsersTmpdir, IsKeptWhereThePathOfASocketOrOfAPreloadWouldNotFit) {
  for (const std::string& name : {std::string(60, 'x'), std::string("with blank"), std::string("a:b")}) {
    std::filesystem::create_directory(scratch_ / name);
    set(scratch_ / name);
    const auto run = make(scratch_ / ("run" + std::to_string(name.size())));
    ASSERT_TRUE(run);
    EXPECT_THAT(run->tmp(), StartsWith("/tmp/rf."));
    EXPECT_EQ(run->job_tmpdir(), "");
  }
}

TEST_F(UsersTmpdir, OneThatIsNotThereIsNotUsed) {
  for (const std::string& path : {scratch_ / "absent", std::string("relative"), std::string()}) {
    set(path);
    const auto run = make(scratch_ / ("run" + std::to_string(path.size())));
    ASSERT_TRUE(run);
    EXPECT_THAT(run->tmp(), StartsWith("/tmp/rf."));
    EXPECT_EQ(run->job_tmpdir(), run->tmp());
  }
}

TEST_F(UsersTmpdir, AWatchedJobKeepsIt) {
  const auto run = RunDir::create(scratch_ / "run", "x", RunKind::kWatch);
  ASSERT_TRUE(run.ok());
  tmp_.push_back(run->tmp());
  EXPECT_EQ(run->job_tmpdir(), "");
  EXPECT_THAT(run->tmp(), StartsWith("/tmp/rf."));
}

TEST_F(RunDirTest, FreshNamesComeFromTheScenarioAndNeverCollide) {
  ::setenv("RANKFAULT_RUNS", (scratch_ / "runs").c_str(), 1);
  const auto first = make(""), second = make("");
  ::unsetenv("RANKFAULT_RUNS");
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->path(), second->path());
  EXPECT_THAT(first->path(), StartsWith(scratch_ / "runs/a-scenario-with-odd--name-2"));
}

TEST_F(RunDirTest, IsLiveThenDeadThenComplete) {
  const std::string path = scratch_ / "run";
  {
    const auto run = make(path);
    ASSERT_TRUE(run);
    EXPECT_EQ(run_state(path), RunState::kLive);
  }
  EXPECT_EQ(run_state(path), RunState::kDead);
  const std::string other = scratch_ / "other";
  auto run = make(other);
  ASSERT_TRUE(run && run->complete().ok());
  EXPECT_EQ(run_state(other), RunState::kComplete);
  EXPECT_EQ((*read_json(other + "/state.json"))["state"], "complete");
}

TEST_F(RunDirTest, ReplacesJsonWhole) {
  const auto run = make(scratch_ / "run");
  ASSERT_TRUE(run && run->write_json("x.json", {{"b", 1}, {"a", 2}}).ok());
  EXPECT_EQ(read_text(run->file("x.json")), "{\n  \"b\": 1,\n  \"a\": 2\n}\n");
  ASSERT_TRUE(run->write_json("x.json", {{"c", 3}}).ok());
  EXPECT_EQ((*read_json(run->file("x.json")))["c"], 3);
  EXPECT_FALSE(std::filesystem::exists(run->file("x.json.part")));
}

TEST_F(RunDirTest, NamesAFileThatIsNotJson) {
  std::ofstream(scratch_ / "x.json") << "{";
  const auto json = read_json(scratch_ / "x.json");
  ASSERT_FALSE(json.ok());
  EXPECT_THAT(json.error().message, HasSubstr("x.json is not JSON"));
  EXPECT_FALSE(read_json(scratch_ / "absent").ok());
}

TEST_F(RunDirTest, ARefusedPlaceIsAnErrorWithItsName) {
  std::ofstream(scratch_ / "file") << "x";
  const auto run = RunDir::create(scratch_ / "file/run", "x");
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(run.error().message, HasSubstr(scratch_ / "file"));
}

}  // namespace
}  // namespace rankfault::test
