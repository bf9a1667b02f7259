// host_objects_test: which job a segment, or a file in the workload's own TMPDIR, belongs to.
#include "harness/live/host_objects.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/base/process_tree.h"
#include "harness/launch/guardian/file_id.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class HostObjectsTest : public ::testing::Test {
 protected:
  HostObjectsTest() { std::filesystem::create_directories(tmpdir_); }
  ~HostObjectsTest() override {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    for (const int end : asks_) ::close(end);
    if (segment_ >= 0) ::shmctl(segment_, IPC_RMID, nullptr);
    std::filesystem::remove(run_->tmp());  // the guardian does this in a run; here it is missing
  }

  // Starts a process of the job with that TMPDIR. Returns when it has executed its program.
  void start_child(const std::string& argument = "x") {
    int told[2];
    ASSERT_EQ(::pipe2(told, O_CLOEXEC), 0);
    ASSERT_EQ(::pipe2(asks_, O_CLOEXEC), 0);
    const std::string variable = "TMPDIR=" + tmpdir_;
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(asks_[0], 0);
      ::dup2(told[1], 1);
      char* env[] = {const_cast<char*>(variable.c_str()), nullptr};
      ::execle("/bin/sh", "sh", "-c", "echo up; read x", argument.c_str(), nullptr, env);
      ::_exit(127);
    }
    char up[3];
    ASSERT_EQ(::read(told[0], up, 3), 3);
    ::close(told[0]);
    ::close(told[1]);
  }
  static uint64_t start_of(int pid) { return proc_stat(pid)->start; }
  void make(const std::string& path) { std::ofstream(path) << "x"; }
  void make_segment() {
    segment_ = ::shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    ASSERT_GE(segment_, 0);
  }
  std::string undo_text() {
    std::ostringstream text;
    text << std::ifstream(scratch_.file("undo")).rdbuf();
    return text.str();
  }
  // Takes the census and returns its entries about files.
  std::vector<std::string> files(const std::set<FileNumber>& listed = {}) {
    Result<Journal> journal = Journal::create(scratch_.file("journal"));
    host_.census(*journal, nullptr, counts_, listed);
    std::vector<std::string> found;
    const JournalLines lines = *read_journal(scratch_.file("journal"));
    for (const JournalLine& read : lines)
      if (const Json line = to_json(read); line.value("kind", "") == "temp_file")
        found.push_back(line.value("ev", "") + " " +
                        std::filesystem::path(line.value("what", "")).filename().string());
    return found;
  }

  Scratch scratch_;
  std::string tmpdir_ = scratch_.file("scratch");
  Result<RunDir> run_ = RunDir::create(tmpdir_ + "/run", "test");
  HostObjects host_{*run_};
  Result<UndoList> undo_ = UndoList::open(scratch_.file("undo"));
  events::Census counts_{
      .processes = {}, .shm = {}, .sockets = {}, .temp_files = 0, .sysv = {}, .queues = {}};
  int child_ = 0, segment_ = -1;
  int asks_[2] = {-1, -1};  // the child lives until its standard input ends
};

TEST_F(HostObjectsTest, ASegmentOfAProcessOfTheJobIsListedOnce) {
  if (!sysv_objects().known)
    GTEST_SKIP() << "this kernel lists no System V objects: /proc/sysvipc is missing (CONFIG_SYSVIPC is "
                    "off), so there are none to make or to remove";
  make_segment();
  host_.list_segments(*undo_);
  EXPECT_THAT(undo_text(), IsEmpty()) << "this process is none of the job's";
  host_.add_process(::getpid(), start_of(::getpid()));
  host_.list_segments(*undo_);
  const std::string once = undo_text();
  EXPECT_THAT(once, HasSubstr("remove-segment " + std::to_string(segment_) + " "));
  host_.list_segments(*undo_);
  EXPECT_EQ(undo_text(), once);
}

// A process of the job had our pid before us. The guardian removes everything that the list names.
TEST_F(HostObjectsTest, ASegmentOfANeighbourThatTookTheNumberIsNotListed) {
  if (!sysv_objects().known)
    GTEST_SKIP() << "this kernel lists no System V objects: /proc/sysvipc is missing (CONFIG_SYSVIPC is "
                    "off), so there are none to make or to remove";
  host_.add_process(::getpid(), start_of(::getpid()) - 1);
  make_segment();
  host_.list_segments(*undo_);
  Result<Journal> journal = Journal::create(scratch_.file("journal"));
  host_.census(*journal, &*undo_, counts_, {});
  EXPECT_THAT(undo_text(), Not(HasSubstr("remove-segment")));
}

TEST_F(HostObjectsTest, AFileInASharedTmpdirIsUnclearAndAListedOneIsNotToldAgain) {
  start_child();
  host_.add_process(child_, start_of(child_));
  make(tmpdir_ + "/anybodys");
  make(tmpdir_ + "/listed");
  struct statx st {};
  ASSERT_EQ(rf_file_at((tmpdir_ + "/listed").c_str(), &st), 0);
  const rf_file_id listed = rf_id_of_file(&st);
  EXPECT_THAT(files({{listed.dev, listed.ino}}), ElementsAre("unclear_leftover anybodys"));
  EXPECT_EQ(counts_.temp_files, 0u);
}

TEST_F(HostObjectsTest, TheRunAndWhatTheUserNamedAreNoLeftovers) {
  start_child("--out=" + tmpdir_ + "/model.bin");
  host_.add_process(child_, start_of(child_));
  make(tmpdir_ + "/model.bin");
  make(tmpdir_ + "/run/journal.ndjson");
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(HostObjectsTest, ATmpdirThatCannotBeListedWasNotLookedAt) {
  start_child();
  host_.add_process(child_, start_of(child_));
  std::filesystem::remove_all(tmpdir_);
  make(tmpdir_);  // a file
  EXPECT_THAT(files(), IsEmpty());
  EXPECT_FALSE(counts_.temp_files);
}

TEST_F(HostObjectsTest, ATmpdirOfMoreFilesThanAreLookedAtWasNotLookedAt) {
  start_child();
  host_.add_process(child_, start_of(child_));
  host_.look_at_most(3);
  for (const char* name : {"a", "b", "c"}) make(tmpdir_ + "/" + name);
  files();
  EXPECT_FALSE(counts_.temp_files);
}

TEST_F(HostObjectsTest, TheNumberOfAnotherProcessNamesNoTmpdir) {
  start_child();
  host_.add_process(child_, start_of(child_) + 1);
  make(tmpdir_ + "/anybodys");
  EXPECT_THAT(files(), IsEmpty());
}

}  // namespace
}  // namespace rankfault::test
