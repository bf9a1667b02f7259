// host_objects_test: System V objects and POSIX queues: which of them a job left, and which are removed.
#include <fmt/format.h>
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "harness/launch/guardian/undo.h"
#include "harness/launch/posix_queues.h"
#include "harness/launch/sysv_objects.h"
#include "tests/launch/fixture.h"

namespace rankfault::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kSegments =
    "       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid      "
    "atime\n"
    "         0         17   600               1048576  4711  4712      1     0     0     5     0 "
    "1700000000\n";

TEST(SysvObjects, AreReadByTheTitlesOfTheirColumns) {
  const auto found = read_sysv_table(SysvKind::kSegment, kSegments);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, 17);
  EXPECT_EQ(found[0].maker, 4711);
  EXPECT_EQ(found[0].owner, 5u);
  EXPECT_EQ(to_text(found[0]), "System V segment 17 (key 0x0) of process 4711");
  EXPECT_THAT(read_sysv_table(SysvKind::kSegment, ""), IsEmpty());
  EXPECT_THAT(read_sysv_table(SysvKind::kSegment, "shmid cpid\n1 2 3\n"), IsEmpty());
}

SysvObject object(SysvKind kind, int id, int maker, bool lives = false) {
  SysvObject o;
  o.kind = kind;
  o.id = id;
  o.maker = maker;
  o.owner = 5;
  o.lives = lives;
  return o;
}

// Segment 1 was there before, 2 is of process 7 of the job; set 1 nobody used; queue 3 was used by the job.
TEST(SysvObjects, AreTheJobsWhenTheKernelNamesAProcessOfIt) {
  SysvObjects before, after;
  before.all = {object(SysvKind::kSegment, 1, 9)};
  SysvObject queue = object(SysvKind::kQueue, 3, 0);
  queue.users = {7};
  after.all = {before.all[0], object(SysvKind::kSegment, 2, 7), object(SysvKind::kSemaphores, 1, 0), queue};
  const SysvLeft left = sysv_left(before, after, {7, 8}, 5);
  ASSERT_THAT(left.of_the_job, SizeIs(2));
  EXPECT_EQ(left.of_the_job[0].id, 2);
  EXPECT_EQ(left.of_the_job[1].id, 3);
  ASSERT_THAT(left.unclear, SizeIs(1));
  EXPECT_EQ(left.unclear[0].kind, SysvKind::kSemaphores);
}

TEST(SysvObjects, ANeighboursAreNotOfTheJob) {
  SysvObjects after;
  after.all = {object(SysvKind::kSegment, 2, 9, true), object(SysvKind::kSemaphores, 1, 0)};
  EXPECT_THAT(sysv_left({}, after, {7}, 6).unclear, IsEmpty()) << "another user's";
  const SysvLeft left = sysv_left({}, after, {7}, 5);
  EXPECT_THAT(left.of_the_job, IsEmpty());
  ASSERT_THAT(left.unclear, SizeIs(1)) << "its maker lives, and is none of the job's";
  EXPECT_EQ(left.unclear[0].kind, SysvKind::kSemaphores);
}

class RealObjects : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = sysv_objects();
    if (!before_.known) GTEST_SKIP() << "this kernel lists no System V objects";
    segment_ = ::shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    ASSERT_GE(segment_, 0);
  }
  void TearDown() override { ::shmctl(segment_, IPC_RMID, nullptr); }
  bool there() const {
    shmid_ds now{};
    return ::shmctl(segment_, IPC_STAT, &now) == 0 && !(now.shm_perm.mode & SHM_DEST);
  }
  std::string undo(int maker, bool watch = false) {
    shmid_ds now{};
    ::shmctl(segment_, IPC_STAT, &now);
    std::ofstream(scratch_ / "undo") << fmt::format("remove-segment {} {} {}\nleft-object set 4\n", segment_,
                                                    maker, now.shm_ctime);
    const std::string path = scratch_ / "undo", run_dir = scratch_ / "run";
    rf_undo_run run{};
    run.undo_path = path.c_str();
    run.run_dir = run.tmp_dir = run_dir.c_str();
    run.watch = watch;
    rf_undo_result result;
    rf_undo(&run, &result);
    std::string lines = result.lines ? result.lines : "";
    std::free(result.lines);
    return lines;
  }
  SysvObjects before_;
  Scratch scratch_;
  int segment_ = -1;
};

TEST_F(RealObjects, ASegmentIsKnownByItsMakerAndRemovedOnce) {
  const SysvLeft left = sysv_left(before_, sysv_objects(), {::getpid()}, ::geteuid());
  ASSERT_THAT(left.of_the_job, SizeIs(1));
  EXPECT_EQ(left.of_the_job[0].id, segment_);
  EXPECT_EQ(undo(::getpid()), "left set 4\n");
  EXPECT_FALSE(there());
  EXPECT_EQ(undo(::getpid()), "left set 4\n");
}

TEST_F(RealObjects, ASegmentOfAnotherMakerOrThatIsMappedStays) {
  undo(::getpid() + 1);
  EXPECT_TRUE(there());
  void* mapped = ::shmat(segment_, nullptr, 0);
  EXPECT_THAT(undo(::getpid()), HasSubstr("failed left System V segment"));
  EXPECT_TRUE(there());
  ::shmdt(mapped);
  undo(::getpid(), true);
  EXPECT_TRUE(there()) << "of a watched job";
}

TEST_F(RealObjects, ASemaphoreSetIsKnownByWhoUsedItLast) {
  const int set = ::semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
  ASSERT_GE(set, 0);
  const auto left = [&] { return sysv_left(before_, sysv_objects(), {::getpid()}, ::geteuid()); };
  EXPECT_THAT(left().unclear, SizeIs(1));
  ::semctl(set, 0, SETVAL, 1);
  EXPECT_THAT(left().unclear, IsEmpty());
  EXPECT_THAT(left().of_the_job, SizeIs(2)) << "it, and the segment";
  ::semctl(set, 0, IPC_RMID);
}

TEST(PosixQueues, AreListedWhereTheirFileSystemMayBeSeen) {
  const std::string name = "/rankfault-test-" + std::to_string(::getpid());
  const auto before = posix_queues(::geteuid());
  const mqd_t queue = ::mq_open(name.c_str(), O_CREAT | O_RDWR, 0600, nullptr);
  if (!before || queue < 0) GTEST_SKIP() << "POSIX queues cannot be listed here";
  const auto now = posix_queues(::geteuid());
  ::mq_close(queue);
  ::mq_unlink(name.c_str());
  ASSERT_TRUE(now.has_value());
  EXPECT_TRUE(now->count(name.substr(1)));
  EXPECT_FALSE(before->count(name.substr(1)));
}

}  // namespace
}  // namespace rankfault::test
