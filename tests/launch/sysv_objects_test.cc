// sysv_objects_test: System V objects and POSIX queues: which of them a job left, and which of them it
// removes.
#include "harness/launch/sysv_objects.h"

#include <fmt/format.h>
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <fstream>

#include "harness/base/process_tree.h"
#include "harness/launch/guardian/undo.h"
#include "harness/launch/posix_queues.h"
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
  o.changed = 1'000;
  o.lives = lives;
  return o;
}

// Processes with these numbers belonged to the job from second 900 to 1100.
JobPids job(std::initializer_list<int> pids, JobPids::Life life = {900, 1'100}) {
  JobPids all;
  for (const int pid : pids) all.add(pid, 1, life);
  return all;
}

// Segment 1 existed before. Process 7 of the job made segment 2. Set 1 was not used. The job used queue 3.
TEST(SysvObjects, AreTheJobsWhenTheKernelNamesAProcessOfIt) {
  SysvObjects before, after;
  before.all = {object(SysvKind::kSegment, 1, 9)};
  SysvObject queue = object(SysvKind::kQueue, 3, 0);
  queue.users = {{7, 1'000}};
  after.all = {before.all[0], object(SysvKind::kSegment, 2, 7), object(SysvKind::kSemaphores, 1, 0), queue};
  const SysvLeft left = sysv_left(before, after, job({7, 8}), 5);
  ASSERT_THAT(left.of_the_job, SizeIs(2));
  EXPECT_EQ(left.of_the_job[0].id, 2);
  EXPECT_EQ(left.of_the_job[1].id, 3);
  ASSERT_THAT(left.unclear, SizeIs(1));
  EXPECT_EQ(left.unclear[0].kind, SysvKind::kSemaphores);
}

TEST(SysvObjects, ANeighboursAreNotOfTheJob) {
  SysvObjects after;
  after.all = {object(SysvKind::kSegment, 2, 9, true), object(SysvKind::kSemaphores, 1, 0)};
  EXPECT_THAT(sysv_left({}, after, job({7}), 6).unclear, IsEmpty()) << "another user's";
  const SysvLeft left = sysv_left({}, after, job({7}), 5);
  EXPECT_THAT(left.of_the_job, IsEmpty());
  ASSERT_THAT(left.unclear, SizeIs(1)) << "its maker lives, and is none of the job's";
  EXPECT_EQ(left.unclear[0].kind, SysvKind::kSemaphores);
}

// The kernel gave the number to another process: a neighbour made the segment, or used the queue, before or
// after the process of the job had that number.
TEST(SysvObjects, ANumberIsTheJobsOnlyWhileItsProcessLived) {
  SysvObject queue = object(SysvKind::kQueue, 3, 0);
  queue.users = {{7, 1'000}};
  SysvObjects after;
  after.all = {object(SysvKind::kSegment, 2, 7), queue};
  for (const JobPids::Life life : {JobPids::Life{900, 999}, JobPids::Life{1'001, 1'100}}) {
    const JobPids pids = job({7}, life);
    const SysvLeft left = sysv_left({}, after, pids, 5);
    EXPECT_THAT(left.of_the_job, IsEmpty());
    EXPECT_THAT(left.unclear, SizeIs(2));
    EXPECT_FALSE(may_be_removed(after.all[0], pids, 5));
  }
  EXPECT_THAT(sysv_left({}, after, job({7}, {1'000, 1'000}), 5).of_the_job, SizeIs(2));
}

TEST(SysvObjects, OnlyASegmentOfTheUserThatTheJobMadeMayBeRemoved) {
  const JobPids pids = job({7});
  EXPECT_TRUE(may_be_removed(object(SysvKind::kSegment, 2, 7), pids, 5));
  EXPECT_FALSE(may_be_removed(object(SysvKind::kSegment, 2, 7), pids, 6));
  EXPECT_FALSE(may_be_removed(object(SysvKind::kSegment, 2, 8), pids, 5));
  EXPECT_FALSE(may_be_removed(object(SysvKind::kQueue, 2, 7), pids, 5));
  SysvObjects after;
  after.all = {object(SysvKind::kSegment, 2, 7)};
  EXPECT_THAT(sysv_left({}, after, pids, 6).of_the_job, SizeIs(1)) << "the job made it under another user";
}

TEST(JobPids, ANumberThatAnotherProcessHasNowIsNotTheJobs) {
  const uint64_t start = proc_stat(::getpid())->start;
  JobPids same, earlier;
  same.add(::getpid(), start);
  EXPECT_TRUE(same.was_there(::getpid(), std::time(nullptr)));
  EXPECT_FALSE(same.was_there(::getpid(), std::time(nullptr) - 100'000'000)) << "before it began";
  EXPECT_FALSE(same.add(::getpid(), start));
  earlier.add(::getpid(), start - 1, {0});  // its end was not reported
  EXPECT_FALSE(earlier.was_there(::getpid(), std::time(nullptr)));
  EXPECT_TRUE(earlier.was_there(::getpid(), 1));
  same.ended(::getpid(), start);
  EXPECT_FALSE(same.was_there(::getpid(), std::time(nullptr) + 2));
}

// This process as one of the job.
JobPids this_process() {
  JobPids pids;
  pids.add(::getpid(), proc_stat(::getpid())->start);
  return pids;
}

class RealObjects : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = sysv_objects();
    if (!before_.known)
      GTEST_SKIP() << "this kernel lists no System V objects: /proc/sysvipc is missing (CONFIG_SYSVIPC is "
                      "off), so there are none to make or to remove";
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
  const SysvLeft left = sysv_left(before_, sysv_objects(), this_process(), ::geteuid());
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
  const auto left = [&] { return sysv_left(before_, sysv_objects(), this_process(), ::geteuid()); };
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
