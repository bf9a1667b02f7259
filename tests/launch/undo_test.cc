// Undo list: it undoes only proven entries, and a second pass does no harm.
#include "harness/launch/guardian/undo.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "harness/base/process_tree.h"
#include "harness/launch/guardian/file_id.h"
#include "harness/launch/guardian/undo_entry.h"
#include "tests/launch/fixture.h"

namespace rankfault::test {
namespace {

using ::testing::HasSubstr;

class UndoTest : public ::testing::Test {
 protected:
  std::string make(const std::string& name, const std::string& text = "x") {
    std::ofstream(scratch_ / name) << text;
    return scratch_ / name;
  }
  static std::string identity(const std::string& path) {
    struct stat st {};
    ::stat(path.c_str(), &st);
    return fmt::format("{} {}", st.st_dev, st.st_ino);
  }
  static std::string file_line(const std::string& path) {
    struct statx st {};
    rf_file_at(path.c_str(), &st);
    return fmt::format("remove-file {} {} {}", identity(path), rf_id_of_file(&st).born, path);
  }
  // A line that says the same as the one that is read.
  static std::string written_again(const std::string& line) {
    const rf_undo_entry entry = rf_undo_parse(line.c_str());
    char text[256];
    return {text, rf_undo_format(&entry, text, sizeof text)};
  }
  void list(const std::string& text) { std::ofstream(scratch_ / "undo", std::ios::app) << text; }
  // Returns the failures.
  std::string undo() {
    struct stat st {};
    ::stat(tmp_.c_str(), &st);
    const std::string path = scratch_ / "undo", run_dir = scratch_ / "run";
    rf_undo_run run{};
    run.undo_path = path.c_str();
    run.unlisted = unlisted_.data();
    run.unlisted_bytes = unlisted_.size();
    run.run_dir = run_dir.c_str();
    run.tmp_dir = tmp_.c_str();
    run.tmp_dev = tmp_dev_ ? tmp_dev_ : st.st_dev;
    run.tmp_ino = tmp_ino_ ? tmp_ino_ : st.st_ino;
    rf_undo_result result;
    rf_undo(&run, &result);
    undone_ = result.undone;
    std::string lines = result.lines ? result.lines : "";
    std::free(result.lines);
    return lines;
  }
  Scratch scratch_;
  std::string tmp_ = scratch_ / "tmp";
  uint64_t tmp_dev_ = 0, tmp_ino_ = 0;
  int undone_ = 0;
  std::string unlisted_;
};

TEST_F(UndoTest, RemovesAFileOnceAndIsSilentAfterwards) {
  const std::string path = make("segment with spaces");
  list(file_line(path) + "\n");
  EXPECT_EQ(undo(), "");
  EXPECT_EQ(undone_, 1);
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(undo(), "");
  EXPECT_EQ(undone_, 0);
}

TEST_F(UndoTest, WritesEachEntryAsItReadsIt) {
  for (const char* line : {"remove-file 1 2 3 /dev/shm/a b", "left-file 1 2 3 /tmp/x", "remove-dir /tmp/rf.x",
                           "restore-mode 1 2 640 /dev/shm/a", "remove-segment 7 8 9",
                           "left-object POSIX message queue /q", "continue 12 34"})
    EXPECT_EQ(written_again(line), std::string(line) + "\n");
  for (const char* line : {"", "remove-file 1 2", "remove-files 1 2 3 /x", "continue 12", "unknown 1"})
    EXPECT_EQ(rf_undo_parse(line).kind, RF_UNDO_UNKNOWN) << line;
}

TEST_F(UndoTest, RemovesWhatTheDiskDidNotTakeIntoTheList) {
  const std::string listed = make("a"), not_listed = make("b");
  list(file_line(listed) + "\n");
  unlisted_ = file_line(not_listed) + "\n";
  EXPECT_EQ(undo(), "");
  EXPECT_EQ(undone_, 2);
}

TEST_F(UndoTest, TellsOfAFileThatIsLeftAndDoesNotRemoveIt) {
  const std::string path = make("results");
  list("left-file" + file_line(path).substr(std::string("remove-file").size()) + "\n");
  EXPECT_EQ(undo(), "left " + path + "\n");
  EXPECT_EQ(undone_, 0);
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(UndoTest, LeavesAFileWhoseInodeChanged) {
  const std::string path = make("a");
  list(file_line(path) + "\n");
  std::filesystem::rename(path, path + ".kept");  // keeps the inode in use
  make("a", "somebody else's");
  EXPECT_EQ(undo(), "");
  EXPECT_EQ(undone_, 0);
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(UndoTest, LeavesAFileThatWasBornLaterWithTheSameInode) {
  const std::string path = make("a");
  list(fmt::format("remove-file {} {} {}\n", identity(path), 1, path));
  EXPECT_EQ(undo(), "");
  EXPECT_EQ(undone_, 0);
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(UndoTest, ATornLastLineIsNotActedUpon) {
  const std::string path = make("a");
  list(file_line(path));
  EXPECT_EQ(undo(), "");
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(UndoTest, RemovesADirectoryOfTheRunButFollowsNoLink) {
  std::filesystem::create_directories(tmp_ + "/a/b");
  std::filesystem::create_directories(scratch_ / "outside");
  const std::string kept = make("outside/kept");
  std::filesystem::create_directory_symlink(scratch_ / "outside", tmp_ + "/a/link");
  list("remove-dir " + tmp_ + "\n");
  EXPECT_EQ(undo(), "");
  EXPECT_FALSE(std::filesystem::exists(tmp_));
  EXPECT_TRUE(std::filesystem::exists(kept));
}

TEST_F(UndoTest, RefusesADirectoryThatIsNotTheRuns) {
  std::filesystem::create_directories(scratch_ / "other");
  list("remove-dir " + (scratch_ / "other") + "\n");
  list("remove-dir " + tmp_ + "/../other\n");
  std::filesystem::create_directories(tmp_);
  EXPECT_THAT(undo(), HasSubstr("not a directory of this run"));
  EXPECT_TRUE(std::filesystem::exists(scratch_ / "other"));
}

TEST_F(UndoTest, LeavesATemporaryDirectoryThatIsAnotherRunsByNow) {
  std::filesystem::create_directories(tmp_);
  tmp_dev_ = tmp_ino_ = 1;
  list("remove-dir " + tmp_ + "\n");
  EXPECT_EQ(undo(), "");
  EXPECT_TRUE(std::filesystem::exists(tmp_));
}

TEST_F(UndoTest, RestoresAMode) {
  const std::string path = make("a");
  ::chmod(path.c_str(), 0000);
  list("restore-mode " + identity(path) + " 640 " + path + "\n");
  EXPECT_EQ(undo(), "");
  struct stat st {};
  ::stat(path.c_str(), &st);
  EXPECT_EQ(st.st_mode & 07777u, 0640u);
}

TEST_F(UndoTest, ContinuesAStoppedProcessOnlyWithItsStartTime) {
  const int child = ::fork();
  if (child == 0)
    for (;;) ::pause();
  ::kill(child, SIGSTOP);
  ASSERT_TRUE(eventually([&] { return proc_stat(child)->state == 'T'; }));
  list(fmt::format("continue {} {}\n", child, proc_stat(child)->start + 1));
  EXPECT_EQ(undo(), "");
  EXPECT_EQ(proc_stat(child)->state, 'T');
  list(fmt::format("continue {} {}\n", child, proc_stat(child)->start));
  EXPECT_EQ(undo(), "");
  EXPECT_TRUE(eventually([&] { return proc_stat(child)->state != 'T'; }));
  ::kill(child, SIGKILL);
}

TEST_F(UndoTest, NamesALineItDoesNotUnderstand) {
  list("explode everything\n");
  EXPECT_THAT(undo(), HasSubstr("explode everything"));
}

}  // namespace
}  // namespace rankfault::test
