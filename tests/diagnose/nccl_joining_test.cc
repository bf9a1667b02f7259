// nccl_joining_test: findings about ranks that make a communicator of NCCL: which rank has not joined, and
// which has another version of NCCL.
#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

using ::testing::HasSubstr;

// Ranks that have asked for a communicator of all of them. `inside`: NCCL has not answered yet.
class NcclJoining : public ::testing::Test {
 protected:
  void initialise(int rank, bool inside, uint64_t members = 3, int id = 0) {
    CallSpec init{RF_OP_COMM_CREATE, members, 0, 0, RF_PEER_NONE, 0x5, "world", 0, 0, 0};
    init.tag = id;
    if (id) init.peer = rank;
    inside ? job.blocked(rank, init) : job.does(rank, init);
    ProcessView& p = job.rank(rank);
    for (Event& e : p.history) e.record.comm = RF_NO_COMM, e.record.seq = 0;
    job.lane_of(rank).state.comm = RF_NO_COMM;
    job.lane_of(rank).state.seq = 0;
    CommView& world = job.comm_of(rank);
    world.entered = world.completed = world.issuers = 0;
    world.members.clear();  // NCCL does not give its member processes
    if (inside) p.comms.clear();
  }
  void has_nccl(int rank, uint32_t version) { job.rank(rank).coverage.front().version = version; }
  // As if rank 2 was never started.
  Timeline without_2() const {
    Timeline t = job.build();
    std::erase_if(t.processes, [](const ProcessView& p) { return p.rank == 2; });
    t.expected[2].started = false;
    return t;
  }

  TimelineBuilder job{3, RF_LIB_NCCL};
};

TEST_F(NcclJoining, ARankThatWasNeverStartedIsToldOfABlockingInitialisation) {
  for (const int r : {0, 1}) initialise(r, true);
  job.wait(10s);
  EXPECT_EQ(finding_of(diagnose(without_2()), "init_stall"), nullptr) << "it may come";
  job.wait(20s);
  const Findings found = diagnose(without_2());
  const Finding* f = finding_of(found, "init_stall");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->confidence, Confidence::kInferred);
  EXPECT_EQ(f->ranks, std::vector<int>{2});
  EXPECT_EQ(f->op, "comm_create");
  EXPECT_THAT(f->text, HasSubstr("communicator of NCCL: rank 2 was never started"));
}

// PyTorch with lazy initialisation: rank 2 is a member that has made no call.
TEST_F(NcclJoining, AMemberThatDoesNotComeIsSlowAndThenStalls) {
  for (const int r : {0, 1}) initialise(r, true, 3, 77);
  ProcessView& late = job.rank(2);
  late.lanes.clear();
  late.history.clear();
  late.comms.clear();
  late.busy_at = job.now();
  job.wait(1s);
  EXPECT_EQ(finding_of(diagnose(job.build()), "slow_rank"), nullptr);
  job.wait(4s);
  const Findings slow = diagnose(job.build());
  ASSERT_EQ(all_kinds(slow), "slow_rank");
  EXPECT_EQ(slow.all.front().ranks, std::vector<int>{2});
  EXPECT_THAT(slow.all.front().text,
              HasSubstr("rank 2 runs outside any call while others wait in the initialisation"));
  job.wait(25s);
  const Findings stall = diagnose(job.build());
  ASSERT_EQ(all_kinds(stall), "init_stall");
  EXPECT_EQ(stall.all.front().ranks, std::vector<int>{2});
}

TEST_F(NcclJoining, AndOfOneThatDoesNotBlock) {
  for (const int r : {0, 1}) initialise(r, false);
  job.wait(30s);
  const Findings found = diagnose(without_2());
  ASSERT_NE(finding_of(found, "init_stall"), nullptr) << all_kinds(found);
}

TEST_F(NcclJoining, OneThatHasLeftIsToldWhereItIsNeeded) {
  job.exits(2);
  for (const int r : {0, 1}) initialise(r, true);
  job.wait(10s);
  const Findings found = diagnose(job.build());
  const Finding* f = finding_of(found, "init_stall");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->ranks, std::vector<int>{2});
  EXPECT_THAT(f->text, HasSubstr("rank 2 exited with 0 before it joined"));
}

// No look came during the wait: only the finished record shows it.
TEST_F(NcclJoining, ARankThatWasNeverStartedIsFoundAfterTheOthersGaveUp) {
  for (const bool inside : {false, true}) {
    TimelineBuilder fresh{3, RF_LIB_NCCL};
    std::swap(job, fresh);
    for (const int r : {0, 1}) initialise(r, inside);
    job.wait(5s);
    for (const int r : {0, 1}) job.exits(r, 3);
    Timeline t = without_2();
    t.job_over = true;
    const Findings found = diagnose(t);
    ASSERT_EQ(found.all.front().kind, "init_stall") << all_kinds(found);
    EXPECT_EQ(found.all.front().ranks, std::vector<int>{2});
    EXPECT_THAT(found.all.front().text, HasSubstr("ranks 0 1 gave up in the initialisation of a communicator "
                                                  "of NCCL: rank 2 was never started"));
    ASSERT_GT(found.all.size(), 1u);
    for (size_t i = 1; i < found.all.size(); ++i) EXPECT_EQ(found.all[i].caused_by, 0) << found.all[i].text;
  }
}

TEST_F(NcclJoining, NotWhereEveryRankCameAndOneGaveUpFirst) {
  for (const int r : {0, 1, 2}) initialise(r, true);
  job.wait(5s).exits(2, 3).wait(1s).exits(0, 3).exits(1, 3);
  EXPECT_EQ(finding_of(diagnose(job.build()), "init_stall"), nullptr);
}

// Rank 1 computes, and comes later.
TEST_F(NcclJoining, NotWhereTheLivingAreEnough) {
  job.everyone(all_reduce());
  job.exits(2);
  initialise(0, true, 2);
  job.wait(30s);
  const Findings found = diagnose(job.build());
  EXPECT_EQ(finding_of(found, "init_stall"), nullptr) << all_kinds(found);
}

TEST_F(NcclJoining, NorOfAFormerMemberWhenItIsNotKnownHowManyItTakes) {
  job.everyone(all_reduce());
  job.killed(2);
  initialise(0, true, 0);
  job.wait(30s);
  const Findings found = diagnose(job.build());
  EXPECT_EQ(finding_of(found, "init_stall"), nullptr) << all_kinds(found);
}

TEST_F(NcclJoining, NotOfACommunicatorWhoseMembersAreAllThere) {
  for (const int r : {0, 1, 2}) initialise(r, false);
  job.wait(30s);
  EXPECT_EQ(finding_of(diagnose(job.build()), "init_stall"), nullptr);
}

TEST_F(NcclJoining, NorOfRanksThatHaveGoneOn) {
  for (const int r : {0, 1}) {
    initialise(r, false);
    job.does(r, all_reduce());
  }
  job.wait(30s);
  EXPECT_EQ(finding_of(diagnose(without_2()), "init_stall"), nullptr);
}

// A second communicator of all three, by its id, which rank 1 does not join. Rank 1 made the first one, and
// now sleeps or works.
class NcclJoiningAgain : public ::testing::Test {
 protected:
  static constexpr int kId = 77;
  void joins(int rank, int seat, uint64_t members = 3, int id = kId) {
    CallSpec init{RF_OP_COMM_CREATE, members, 0, 0, seat, 0x5, "world", 0, 0, 0, id};
    const CommView world = job.comm_of(rank);
    job.blocked(rank, init);
    job.comm_of(rank) = world;  // it has no place in the order of a communicator
    for (Event& e : job.rank(rank).history)
      if (e.record.op == RF_OP_COMM_CREATE) e.record.comm = RF_NO_COMM, e.record.seq = 0;
    job.lane_of(rank).state.comm = RF_NO_COMM;
    job.lane_of(rank).state.seq = 0;
  }
  void sleeps(int rank) { job.lane_of(rank).thread_state = 'S'; }
  Findings look() { return diagnose(job.build()); }

  TimelineBuilder job = TimelineBuilder(3, RF_LIB_NCCL).everyone(all_reduce());
};

TEST_F(NcclJoiningAgain, TheRankThatSleepsIsNamed) {
  for (const int r : {0, 2}) joins(r, r);
  sleeps(1);
  job.wait(10s);
  EXPECT_EQ(finding_of(look(), "init_stall"), nullptr) << "it may come";
  job.wait(20s);
  const Findings found = look();
  const Finding* f = finding_of(found, "init_stall");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->confidence, Confidence::kInferred);
  EXPECT_EQ(f->ranks, std::vector<int>{1});
  EXPECT_THAT(f->text, HasSubstr("of 3 members rank 1 has not joined"));
  EXPECT_THAT(f->evidence[0], HasSubstr("rank 1 sleeps outside communication"));
}

TEST_F(NcclJoiningAgain, SoIsOneThatWaitsInAnotherCall) {
  for (const int r : {0, 2}) joins(r, r);
  job.enqueues(1, all_reduce());
  job.host_waits(1, {job.last_origin(1)});
  const Findings found = diagnose(job.wait(30s).build());
  const Finding* f = finding_of(found, "init_stall");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->ranks, std::vector<int>{1});
}

// Rank 1 makes call after call, each of them short.
TEST_F(NcclJoiningAgain, OneThatIsInAShortCallMayCome) {
  for (const int r : {0, 2}) joins(r, r);
  for (int second = 0; second < 30; ++second) job.wait(1s).does(1, barrier());
  job.blocked(1, barrier());
  EXPECT_EQ(finding_of(look(), "init_stall"), nullptr) << all_kinds(look());
  job.wait(30s);
  EXPECT_NE(finding_of(look(), "init_stall"), nullptr) << all_kinds(look());
}

// Ranks 1 and 2 are not members of a communicator of two, and one of them has ended.
TEST_F(NcclJoiningAgain, OneThatHasEndedMayBeTheOneThatIsMissing) {
  joins(0, 0, 2);
  sleeps(1);
  const Findings found = diagnose(job.exits(2).wait(30s).build());
  const Finding* f = finding_of(found, "init_stall");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_TRUE(f->ranks.empty()) << f->text;
  EXPECT_THAT(f->evidence, ::testing::Contains("rank 2 exited with 0"));
}

TEST_F(NcclJoiningAgain, ARankThatRunsMayCome) {
  for (const int r : {0, 2}) joins(r, r);
  job.lane_of(1).thread_state = 'R';
  EXPECT_EQ(finding_of(diagnose(job.wait(30s).build()), "init_stall"), nullptr);
}

// The job has slept for as long before, and continued.
TEST_F(NcclJoiningAgain, SoMayOneThatSleptAsLongBefore) {
  job.wait(15s).everyone(all_reduce());
  for (const int r : {0, 2}) joins(r, r);
  sleeps(1);
  EXPECT_EQ(finding_of(diagnose(job.wait(30s).build()), "init_stall"), nullptr);
  EXPECT_NE(finding_of(diagnose(job.wait(30s).build()), "init_stall"), nullptr);
}

TEST_F(NcclJoiningAgain, OfAPartOfTheRanksThatAreAllThereNobodyIsMissing) {
  for (const int r : {0, 2}) joins(r, r / 2, 2);
  sleeps(1);
  EXPECT_EQ(finding_of(diagnose(job.wait(30s).build()), "init_stall"), nullptr);
}

TEST_F(NcclJoiningAgain, OneOfTwoOthersIsMissingAndWhichIsNotKnown) {
  joins(0, 0, 2);
  for (const int r : {1, 2}) sleeps(r);
  const Findings found = diagnose(job.wait(30s).build());
  const Finding* f = finding_of(found, "init_stall");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_TRUE(f->ranks.empty());
  EXPECT_THAT(f->text, HasSubstr("of 2 members 1 of ranks 1 2 has not joined"));
}

// Two communicators of two: by the count alone all ranks would have joined.
TEST_F(NcclJoiningAgain, WhoWaitsForAnotherCommunicatorIsNotThere) {
  joins(0, 0, 2, 77);
  joins(1, 0, 2, 78);
  sleeps(2);
  const Findings found = diagnose(job.wait(30s).build());
  EXPECT_NE(finding_of(found, "init_stall"), nullptr) << all_kinds(found);
}

TEST_F(NcclJoining, OneOfAnotherVersionIsTold) {
  for (const int r : {0, 1, 2}) {
    initialise(r, false);
    has_nccl(r, r == 1 ? 22203 : 22907);
  }
  const Findings found = diagnose(job.build());
  const Finding* f = finding_of(found, "version_mismatch");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->confidence, Confidence::kInferred);
  EXPECT_EQ(f->ranks, std::vector<int>{1});
  EXPECT_THAT(f->text, HasSubstr("rank 1 has NCCL 2.22.3, ranks 0 2 have NCCL 2.29.7"));
}

TEST_F(NcclJoining, OfTwoVersionsThatEquallyManyHaveNobodyIsTheOddOne) {
  for (const int r : {0, 1}) {
    initialise(r, false);
    has_nccl(r, r == 1 ? 22203 : 22907);
  }
  const Findings found = diagnose(without_2());
  ASSERT_NE(finding_of(found, "version_mismatch"), nullptr) << all_kinds(found);
  EXPECT_TRUE(finding_of(found, "version_mismatch")->ranks.empty());
}

TEST_F(NcclJoining, OneVersionOrOneThatIsNotKnownIsNothing) {
  for (const int r : {0, 1, 2}) initialise(r, false);
  has_nccl(0, 22907);
  has_nccl(1, 22907);
  EXPECT_EQ(finding_of(diagnose(job.build()), "version_mismatch"), nullptr);
}

TEST_F(NcclJoining, NorIsAnotherVersionWhereTheCommunicatorWorks) {
  for (const int r : {0, 1, 2}) {
    initialise(r, false);
    has_nccl(r, r == 1 ? 22203 : 22907);
  }
  job.everyone(all_reduce());
  EXPECT_EQ(finding_of(diagnose(job.build()), "version_mismatch"), nullptr);
}

}  // namespace
}  // namespace rankfault::testing
