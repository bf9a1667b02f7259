// made_files_test: a file that the records say was made is listed while it is still that file. No other file
// is listed.
#include "harness/live/made_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "harness/launch/guardian/file_id.h"
#include "tests/support/timeline_builder.h"
#include "tests/support/tool.h"

namespace rankfault::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class MadeFiles : public ::testing::Test {
 protected:
  MadeFiles() : name_("/rfmade." + std::to_string(::getpid())), path_("/dev/shm" + name_) { make(); }
  ~MadeFiles() override { ::shm_unlink(name_.c_str()); }

  void make() {
    ::shm_unlink(name_.c_str());
    ::close(::shm_open(name_.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600));
    struct statx st {};
    ASSERT_EQ(rf_file_at(path_.c_str(), &st), 0);
    id_ = rf_id_of_file(&st);
  }

  // Rank 1 left an shm_create of the path with that result, inode and birth.
  Timeline made(int result, uint64_t inode, uint64_t born, uint16_t op = RF_OP_SHM_CREATE) {
    TimelineBuilder job(2);
    job.everyone(all_reduce());
    Timeline t = job.build();
    Event exit;
    exit.record.library = RF_LIB_LIBC;
    exit.record.op = op;
    exit.record.phase = RF_PHASE_EXIT;
    exit.record.comm = RF_NO_COMM;
    exit.record.tag_or_result = result;
    exit.record.seq = 500;
    exit.record.count = inode;
    exit.record.where = born;
    t.processes[1].name_at[500] = path_;
    t.processes[1].history.push_back(exit);
    return t;
  }

  std::string listed(const Timeline& t) {
    const std::string file = scratch_.file("undo");
    Result<UndoList> undo = UndoList::open(file);
    EXPECT_TRUE(list_made_files(t, ::getpid(), file, *undo).ok());
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }

  test::Scratch scratch_;
  std::string name_, path_;
  rf_file_id id_{};
};

TEST_F(MadeFiles, AreListedOnceAsTheGuardianWould) {
  const Timeline t = made(0, id_.ino, id_.born);
  const std::string once = listed(t);
  EXPECT_EQ(once, "remove-file " + std::to_string(id_.dev) + " " + std::to_string(id_.ino) + " " +
                      std::to_string(id_.born) + " " + path_ + "\n");
  EXPECT_EQ(listed(t), once);
}

TEST_F(MadeFiles, AreNotWhatAnotherMadeAfterwardsUnderTheName) {
  const rf_file_id ours = id_;
  make();
  EXPECT_THAT(listed(made(0, ours.ino, ours.born)), IsEmpty());
  EXPECT_THAT(listed(made(0, id_.ino, ours.born)), IsEmpty());  // another file has the inode's number now
  EXPECT_THAT(listed(made(0, ours.ino, id_.born)), IsEmpty());
}

TEST_F(MadeFiles, AreNotWhatTheCallMayHaveFoundThere) {
  EXPECT_THAT(listed(made(0, 0, 0)), IsEmpty());
  EXPECT_THAT(listed(made(EEXIST, id_.ino, id_.born)), IsEmpty());
  EXPECT_THAT(listed(made(0, id_.ino, id_.born, RF_OP_SHM_ATTACH)), IsEmpty());
}

}  // namespace
}  // namespace rankfault::testing
