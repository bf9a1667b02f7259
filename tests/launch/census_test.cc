// Census: it finds and removes what the job made, and never touches what the job did not make.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/launch/fixture.h"

namespace rankfault::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using CensusTest = GuardianTest;

// A segment that the test itself makes, as another job on the host would.
class Neighbour {
 public:
  explicit Neighbour(const std::string& name) : name_(name) {
    fd_ = ::shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (::ftruncate(fd_, 4096) != 0) throw std::runtime_error("ftruncate");
  }
  ~Neighbour() {
    ::close(fd_);
    ::shm_unlink(name_.c_str());
  }
  bool there() const { return ::access(("/dev/shm" + name_).c_str(), F_OK) == 0; }

 private:
  std::string name_;
  int fd_;
};

TEST_F(CensusTest, RemovesASegmentThatTheJobMade) {
  spawn_ready({"segment", "/" + unique_});
  census();
  EXPECT_THAT(undo_text(), HasSubstr("/dev/shm/" + unique_ + "\n"));
  const auto lines = guardian_->quit();
  ASSERT_TRUE(lines.ok());
  EXPECT_THAT(lines->failed, IsEmpty());
  EXPECT_THAT(shm_names(unique_), IsEmpty());
}

TEST_F(CensusTest, ASegmentInAShmOfTheJobsOwnIsNotOnTheHost) {
  if (const Status may = may_mount(); !may.ok()) GTEST_SKIP() << may.error().to_string();
  guardian_.reset();
  Result<Guardian> with_own_shm = Guardian::start(*run_, {{"/dev/shm", 65536}});
  ASSERT_TRUE(with_own_shm.ok()) << with_own_shm.error().to_string();
  guardian_.emplace(std::move(*with_own_shm));
  spawn_ready({"segment", "/" + unique_});
  census();
  EXPECT_THAT(undo_text(), HasSubstr("/dev/shm/" + unique_ + "\n"));
  EXPECT_THAT(shm_names(unique_), IsEmpty());
  const std::string inside = "/proc/" + std::to_string(guardian_->pid()) + "/root/dev/shm/" + unique_;
  EXPECT_EQ(::access(inside.c_str(), F_OK), 0) << inside;
  const auto lines = guardian_->quit();
  ASSERT_TRUE(lines.ok());
  EXPECT_THAT(lines->failed, IsEmpty());
}

TEST_F(CensusTest, AFolderOfTheJobsOwnIsSmallAndGone) {
  if (const Status may = may_mount(); !may.ok()) GTEST_SKIP() << may.error().to_string();
  guardian_.reset();  // and removes the TMPDIR
  std::filesystem::create_directory(run_->tmp());
  const std::string folder = run_->tmp() + "/checkpoints";
  Result<Guardian> with_folder = Guardian::start(*run_, {{folder, 8192}});
  ASSERT_TRUE(with_folder.ok()) << with_folder.error().to_string();
  guardian_.emplace(std::move(*with_folder));
  struct statvfs inside {
  }, outside{};
  const std::string seen = "/proc/" + std::to_string(guardian_->pid()) + "/root" + folder;
  ASSERT_EQ(::statvfs(seen.c_str(), &inside), 0);
  EXPECT_EQ(inside.f_blocks * inside.f_frsize, 8192u);
  ASSERT_EQ(::statvfs(folder.c_str(), &outside), 0);
  EXPECT_GT(outside.f_blocks * outside.f_frsize, 8192u);
  std::ofstream(seen + "/file") << "inside";
  EXPECT_FALSE(std::filesystem::exists(folder + "/file"));
  const auto lines = guardian_->quit();
  ASSERT_TRUE(lines.ok());
  EXPECT_THAT(lines->failed, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(run_->tmp()));
}

TEST_F(CensusTest, SeesANewSegmentWithoutBeingAsked) {
  spawn_ready({"segment", "/" + unique_});
  EXPECT_TRUE(eventually([&] { return undo_text().find("/dev/shm/" + unique_) != std::string::npos; }));
}

TEST_F(CensusTest, ListsAFileOnce) {
  spawn_ready({"segment", "/" + unique_});
  census();
  const std::string once = undo_text();
  census();
  EXPECT_EQ(undo_text(), once);
}

TEST_F(CensusTest, LeavesAnOlderSegmentOfANeighbour) {
  // Older than the run. The job opens it for writing but did not make it.
  Neighbour older("/" + unique_ + "-older");
  const Instant made = HostClock::now();
  eventually([&] { return HostClock::now() > made + 30ms; });  // past the coarse clock's tolerance
  Result<RunDir> run = RunDir::create(scratch_ / "later", "test");
  ASSERT_TRUE(run.ok());
  guardian_.reset();
  run_.emplace(std::move(*run));
  Result<Guardian> guardian = Guardian::start(*run_);
  ASSERT_TRUE(guardian.ok());
  guardian_.emplace(std::move(*guardian));
  spawn_ready({"open_rw", "/dev/shm/" + unique_ + "-older"});
  census();
  EXPECT_THAT(undo_text(), Not(HasSubstr(unique_)));
  guardian_.reset();
  EXPECT_TRUE(older.there());
}

TEST_F(CensusTest, LeavesANewSegmentThatANeighbourStillHolds) {
  Neighbour neighbour("/" + unique_ + "-n");
  spawn_ready({"open_rw", "/dev/shm/" + unique_ + "-n"});
  census();
  const auto lines = guardian_->quit();
  ASSERT_TRUE(lines.ok());
  EXPECT_TRUE(neighbour.there());
  ASSERT_EQ(lines->failed.size(), 1u);
  EXPECT_THAT(lines->failed[0], HasSubstr(fmt::format("process {}", ::getpid())));
}

TEST_F(CensusTest, LeavesAFileThatTheJobOnlyReads) {
  Neighbour neighbour("/" + unique_ + "-r");
  spawn_ready({"open_r", "/dev/shm/" + unique_ + "-r"});
  census();
  EXPECT_THAT(undo_text(), Not(HasSubstr(unique_)));
}

TEST_F(CensusTest, LeavesWhatTheUserNamed) {
  const std::string output = scratch_ / "model.bin";
  std::ofstream(output) << "weights";
  spawn_ready({"open_rw", output});
  census();
  EXPECT_THAT(undo_text(), Not(HasSubstr("model.bin")));
}

TEST_F(CensusTest, TellsOfAFileInVarTmpAndLeavesIt) {
  const std::string left = "/var/tmp/" + unique_ + ".bin";
  spawn_ready({"open_new", "x" + left});  // the leading x hides the path
  census();
  EXPECT_THAT(undo_text(), HasSubstr("left-file "));
  EXPECT_THAT(undo_text(), HasSubstr(left));
  ASSERT_TRUE(guardian_->quit().ok());
  EXPECT_TRUE(std::filesystem::remove(left));
}

// The name "/tmp/x" does not cover "/tmp/x-results" or "/var/tmp/x".
TEST_F(CensusTest, ANameIsAWholePath) {
  const std::string named = "/tmp/" + unique_, go = scratch_ / "go";
  Command lock = command({"lock_file", unique_, go}, scratch_ / "ready");  // /tmp/UNIQUE.lock
  lock.env["PWD"] = named;
  lock.env["OUT"] = "/var" + named + ".lock";
  ASSERT_TRUE(guardian_->spawn(++tag_, lock).ok());
  ASSERT_TRUE(eventually([&] { return first_number(scratch_ / "ready") > 0; }));
  census();
  EXPECT_THAT(undo_text(), HasSubstr(named + ".lock\n"));
  std::ofstream(go) << "remove it";
  EXPECT_TRUE(eventually([&] { return ::access((named + ".lock").c_str(), F_OK) != 0; }));
}

TEST_F(CensusTest, TellsOfAFileInTmpAndLeavesIt) {
  const std::string path = "/tmp/" + unique_ + ".lock";
  spawn_ready({"lock_file", unique_, scratch_ / "never"});
  census();
  EXPECT_THAT(undo_text(), HasSubstr("left-file "));
  EXPECT_THAT(undo_text(), Not(HasSubstr("remove-file ")));
  const auto lines = guardian_->quit();
  ASSERT_TRUE(lines.ok());
  EXPECT_THAT(lines->failed, IsEmpty());
  EXPECT_THAT(lines->left, ElementsAre(path));
  EXPECT_EQ(::unlink(path.c_str()), 0) << "removed";
}

// For a job under `rankfault watch`.
class WatchedCensusTest : public GuardianTest {
 protected:
  void SetUp() override {
    GuardianTest::SetUp();
    guardian_.reset();
    Result<RunDir> run = RunDir::create(scratch_ / "watched", "test", RunKind::kWatch);
    ASSERT_TRUE(run.ok());
    run_.emplace(std::move(*run));
    Result<Guardian> guardian = Guardian::start(*run_);
    ASSERT_TRUE(guardian.ok());
    guardian_.emplace(std::move(*guardian));
  }
  std::string in_shm(const std::string& ending) const { return "/dev/shm/" + unique_ + ending; }
};

TEST_F(WatchedCensusTest, ASegmentGoesAndAFileInShmStays) {
  spawn_ready({"segment", "/" + unique_ + ".seg"});
  std::ofstream(in_shm(".out")) << "results";
  const Command holder = {
      {"/bin/sh", "-c", "exec 3>>\"$FILE\"; echo 1 > \"$READY\"; exec sleep 1000"},
      {{"PATH", "/usr/bin:/bin"}, {"FILE", in_shm(".out").substr(1)}, {"READY", scratch_ / "held"}},
      "/",
      run_->file("logs/holder.log"),
      run_->file("logs/holder.log")};
  ASSERT_TRUE(guardian_->spawn(++tag_, holder).ok());
  ASSERT_TRUE(eventually([&] { return first_number(scratch_ / "held") == 1; }));
  census();
  EXPECT_EQ(undo_text().find("left-file "), std::string::npos)
      << "a list that grows as long as the job lasts";
  const auto lines = guardian_->quit();
  ASSERT_TRUE(lines.ok());
  EXPECT_THAT(lines->failed, IsEmpty());
  EXPECT_THAT(lines->left, IsEmpty()) << "of its own files a watched job is told nothing";
  EXPECT_EQ(::access(in_shm(".seg").c_str(), F_OK), -1);
  EXPECT_EQ(::unlink(in_shm(".out").c_str()), 0) << "removed";
}

TEST_F(WatchedCensusTest, AJobThatEndedByItselfIsLeftAsItIs) {
  const int pid = spawn_ready({"segment", "/" + unique_ + ".seg"}).pid;
  census();
  const auto lines = guardian_->quit(JobEnd::kEndedByItself);
  ASSERT_TRUE(lines.ok());
  EXPECT_THAT(lines->failed, IsEmpty());
  EXPECT_THAT(lines->left, ElementsAre(in_shm(".seg")));
  EXPECT_EQ(::unlink(in_shm(".seg").c_str()), 0) << "removed";
  EXPECT_TRUE(is_alive(pid)) << "a daemon of the job";
  ::kill(pid, SIGKILL);
  EXPECT_TRUE(eventually([&] { return !is_alive(pid); }));
}

TEST_F(WatchedCensusTest, ASegmentThatAnotherHoldsIsLeftWithoutAFailure) {
  Neighbour neighbour("/" + unique_ + "-n");
  spawn_ready({"map", "/" + unique_ + "-n"});
  census();
  EXPECT_THAT(undo_text(), HasSubstr("remove-file "));
  const auto lines = guardian_->quit();
  ASSERT_TRUE(lines.ok());
  EXPECT_TRUE(neighbour.there());
  EXPECT_THAT(lines->failed, IsEmpty());
  EXPECT_THAT(lines->left, ElementsAre(in_shm("-n")));
}

// The job removed its lock file, and a neighbour's file of the same name now has its inode.
TEST_F(CensusTest, LeavesANeighboursFileThatTookTheInodeOfOurs) {
  const std::string path = "/tmp/" + unique_ + ".lock", go = scratch_ / "go";
  spawn_ready({"lock_file", unique_, go});
  census();
  ASSERT_THAT(undo_text(), HasSubstr(path + "\n"));
  struct stat ours {
  }, theirs{};
  ASSERT_EQ(::stat(path.c_str(), &ours), 0);
  std::ofstream(go) << "unlink it";
  ASSERT_TRUE(eventually([&] { return ::access(path.c_str(), F_OK) != 0; }));
  for (int i = 0; i < 100 && theirs.st_ino != ours.st_ino; ++i) {  // another process may take the number
    ::unlink(path.c_str());
    std::ofstream(path) << "theirs";
    ::stat(path.c_str(), &theirs);
  }
  const bool same = theirs.st_ino == ours.st_ino;
  ASSERT_TRUE(guardian_->quit().ok());
  EXPECT_EQ(::unlink(path.c_str()), 0) << "removed";
  if (!same) GTEST_SKIP() << "the file system under /tmp does not give the number again";
}

TEST_F(CensusTest, RemovesTheFileOfASocket) {
  const std::string path = "/dev/shm/" + unique_ + ".sock";
  spawn_ready({"socket", path});
  census();
  EXPECT_THAT(undo_text(), HasSubstr(path));
  ASSERT_TRUE(guardian_->quit().ok());
  EXPECT_THAT(shm_names(unique_), IsEmpty());
}

}  // namespace
}  // namespace rankfault::test
