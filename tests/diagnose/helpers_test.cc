// helpers_test: which processes are ranks, where ranks start programs that communicate among themselves, or
// become other programs.
#include <algorithm>

#include "harness/observe/arrange.h"
#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

constexpr int kHelper = 77;

Timeline arranged(const TimelineBuilder& job) {
  Timeline t = job.build();
  arrange(t);
  return t;
}

CommView communicator(uint64_t id, uint32_t size, int rank, uint32_t flags) {
  CommView c;
  c.id = id;
  c.size = size;
  c.rank = rank;
  c.flags = RF_COMM_POSITIONAL | flags;
  c.library = RF_LIB_C10D;
  c.identity = RF_ID_EXCHANGED;
  return c;
}

// A process that rank `of` started, with the rank and world size that it inherited.
ProcessView helper_of(const ProcessView& of, Instant began) {
  ProcessView p = of;
  p.id.pid = kHelper;
  p.ancestors = {900, of.id.pid, 1};  // through a shell
  p.opened = p.member = began;
  p.lanes.clear();
  p.history.clear();
  p.end = {};
  p.comms = {communicator(4711, 1, 0, 0)};
  return p;
}

Findings with(const TimelineBuilder& job, const ProcessView& more) {
  Timeline t = job.build();
  t.processes.push_back(more);
  arrange(t);
  return diagnose(canonical(std::move(t)));
}

TEST(Helpers, OneThatIsKilledIsNoRank) {
  TimelineBuilder job(4);
  job.everyone(all_reduce(), 3);
  ProcessView helper = helper_of(job.rank(2), job.now());
  job.everyone(all_reduce(), 3);
  helper.end = {EndKind::kEnded, job.now(), true, true, 9};
  const Findings found = with(job, helper);
  EXPECT_TRUE(found.nothing_wrong()) << all_kinds(found);
  helper.ancestors.clear();  // near miss: no process of the job started it
  EXPECT_NE(finding_of(with(job, helper), "duplicate_rank"), nullptr);
}

TEST(Helpers, TheDeathOfTheRankIsReportedAfterOneEnded) {
  TimelineBuilder job(4);
  job.everyone(all_reduce(), 3);
  ProcessView helper = helper_of(job.rank(2), job.now());
  job.everyone(all_reduce(), 3);
  helper.end = {EndKind::kEnded, job.now(), true, false, 0};
  job.killed(2);
  for (const int r : {0, 1, 3}) job.blocked(r, all_reduce());
  const Findings found = with(job, helper);
  ASSERT_EQ(found.all.front().kind, "dead_rank") << all_kinds(found);
  EXPECT_EQ(found.all.front().ranks, std::vector<int>{2});
  EXPECT_EQ(found.all.front().confidence, Confidence::kProven);
}

// Each rank may start its own world with as many processes.
TEST(Helpers, AWorldBelowTheJobsIsNotTheJob) {
  TimelineBuilder job(2);
  job.everyone(all_reduce(), 3);
  Timeline t = job.build();
  for (const int r : {0, 1}) {
    ProcessView p = helper_of(job.rank(1), job.now());
    p.id.pid += r;
    p.rank = r;
    p.comms = {communicator(4711, 2, r, RF_COMM_WORLD)};
    t.processes.push_back(p);
  }
  arrange(t);
  EXPECT_TRUE(diagnose(t).nothing_wrong()) << all_kinds(diagnose(t));
  EXPECT_EQ(t.rank(0, 1)->id, job.rank(1).id);
  t.processes.clear();  // near miss: ranks that are children of one of them, in one world
  t = job.build();
  t.processes[1].ancestors = {t.processes[0].id.pid};
  t.processes[1].opened = t.processes[1].member = t.processes[0].opened + 1ns;
  arrange(t);
  EXPECT_FALSE(t.rank(0, 1)->helper);
}

TEST(Helpers, AWorldThatRanksSpawnedIsNotTheJob) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.everyone(all_reduce(), 3);
  ProcessView spawned = helper_of(job.rank(0), job.now());
  spawned.ancestors.clear();
  spawned.spawned = true;
  spawned.world_size = 8;
  Timeline t = job.build();
  t.processes.push_back(spawned);
  arrange(t);
  EXPECT_TRUE(diagnose(t).nothing_wrong()) << all_kinds(diagnose(t));
  EXPECT_EQ(t.world_size, 2);
}

// torch.multiprocessing.spawn under a launcher that started one process.
TEST(Helpers, RanksThatAProcessWithoutPeersStartsAreTheJob) {
  TimelineBuilder job(4);
  job.everyone(all_reduce(), 3).killed(2);
  for (const int r : {0, 1, 3}) job.blocked(r, all_reduce());
  for (const rf_stage stage : {RF_STAGE_CANDIDATE, RF_STAGE_MEMBER}) {
    Timeline t = job.build();
    ProcessView parent = helper_of(job.rank(0), Instant(1ns));
    parent.ancestors.clear();
    parent.world_size = 1;
    parent.stage = stage;
    for (ProcessView& p : t.processes) p.ancestors = {parent.id.pid};
    t.world_size = 1;
    t.expected = {{0, 0, true}};
    t.processes.push_back(parent);
    arrange(t);
    EXPECT_EQ(t.world_size, 4);
    const Findings found = diagnose(t);
    ASSERT_EQ(found.all.front().kind, "dead_rank") << all_kinds(found);
    EXPECT_EQ(found.all.front().ranks, std::vector<int>{2});
    EXPECT_EQ(finding_of(found, "duplicate_rank"), nullptr);
  }
}

// The diagnosis does not call a program healthy that it did not examine.
TEST(Helpers, OneThatHangsIsNotCalledWell) {
  TimelineBuilder job(2);
  job.everyone(all_reduce(), 3);
  ProcessView helper = helper_of(job.rank(1), job.now());
  LaneView lane = job.lane_of(1);
  lane.state.where = RF_INSIDE;
  lane.state.op = RF_OP_BARRIER;
  lane.state.since_ns = ns_of(job.now());
  helper.lanes = {lane};
  EXPECT_EQ(with(job, helper).all.front().kind, "none");
  job.wait(1h);
  const Findings found = with(job, helper);
  EXPECT_EQ(found.all.front().kind, "cannot_say") << all_kinds(found);
  EXPECT_NE(found.all.front().text.find("rank 1"), std::string::npos) << found.all.front().text;
}

ProcessView next_image(const ProcessView& of, Instant began, rf_stage stage) {
  ProcessView p = helper_of(of, began);
  p.id = of.id;
  p.id.image += 1;
  p.ancestors.clear();
  p.comms.clear();
  p.stage = stage;
  return p;
}

TEST(Exec, ARankThatIsDoneMayBecomeAnotherProgram) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.everyone(all_reduce(), 3).finalized(0).finalized(1).exits(0);
  const ProcessView sleeps = next_image(job.rank(1), job.now(), RF_STAGE_CANDIDATE);
  const Findings found = with(job, sleeps);
  EXPECT_TRUE(found.nothing_wrong()) << all_kinds(found);
  EXPECT_EQ(found.all.front().kind, "none") << found.all.front().text;
}

TEST(Exec, ARankThatBecomesAnotherProgramInTheMiddleHasLeftTheJob) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.everyone(all_reduce(), 3).blocked(0, barrier()).blocked(2, barrier());
  const ProcessView sleeps = next_image(job.rank(1), job.now(), RF_STAGE_CANDIDATE);
  job.wait(10s).killed(0, 15).killed(2, 15);  // by the launcher
  const Findings found = with(job, sleeps);
  const Finding& f = found.all.front();
  ASSERT_EQ(f.kind, "exited_rank") << all_kinds(found);
  EXPECT_EQ(f.ranks, std::vector<int>{1});
  EXPECT_EQ(f.confidence, Confidence::kProven);
  EXPECT_NE(f.text.find("exec"), std::string::npos) << f.text;
}

TEST(Exec, AWrapperThatBecomesTheRankSaysNothingOfIt) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.everyone(all_reduce(), 3);
  ProcessView wrapper = next_image(job.rank(1), Instant(1ns), RF_STAGE_CANDIDATE);
  job.rank(1).id.image = wrapper.id.image + 1;
  const Findings found = with(job, wrapper);
  EXPECT_TRUE(found.nothing_wrong()) << all_kinds(found);
  Timeline t = arranged(job);
  EXPECT_EQ(t.processes.size(), 2u);
}

TEST(ManyCommunicators, TheBoundIsReportedWhenItIsReached) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.everyone(all_reduce(), 3);
  EXPECT_EQ(diagnose(job.build()).all.front().text.find("256"), std::string::npos);
  job.rank(1).partial |= RF_PARTIAL_COMMS;
  const Findings none = diagnose(job.build());
  EXPECT_EQ(none.all.front().kind, "none");
  EXPECT_NE(none.all.front().text.find("256"), std::string::npos) << none.all.front().text;
  job.killed(1).blocked(0, all_reduce());
  const Findings found = diagnose(job.build());
  ASSERT_EQ(found.all.front().kind, "dead_rank") << all_kinds(found);
  EXPECT_EQ(found.all.front().confidence, Confidence::kInferred);
  const std::vector<Assumption>& assumes = found.all.front().assumes;
  EXPECT_TRUE(std::any_of(assumes.begin(), assumes.end(), [](const Assumption& a) {
    return !a.holds && a.why.find("256") != std::string::npos;
  })) << to_json(found.all.front()).dump(1);
}

// Rank 1 freed "part" long ago, and its entry serves another communicator: it left out no calls on "part".
TEST(ManyCommunicators, WhoFreedOneLongAgoLeftNothingOutThere) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.comm("part", {0, 1, 2}).everyone(on(all_reduce(), "part"), 3).everyone(all_reduce(), 2);
  CommView& reused = job.comm_of(1, "part");
  reused.index += RF_MAX_COMMS;
  reused.id = 4711;
  reused.entered = reused.completed = reused.calls = 0;
  reused.size = 1;
  reused.rank = 0;
  reused.members = {1};
  for (const int r : {0, 1, 2}) job.finalized(r).exits(r);
  const Findings found = diagnose(job.build());
  EXPECT_TRUE(found.nothing_wrong()) << all_kinds(found);
}

// Two groups with one name may be two groups: names repeat when a job makes its groups again.
TEST(IdentityByName, ProvesNothing) {
  for (const rf_identity how : {RF_ID_EXCHANGED, RF_ID_NAME}) {
    TimelineBuilder job(3, RF_LIB_C10D);
    job.everyone(all_reduce(), 2).does(0, broadcast(0)).does(1, all_reduce()).does(2, all_reduce());
    for (const int r : {0, 1, 2}) job.comm_of(r).identity = how;
    const Findings found = diagnose(job.build());
    const Finding* f = finding_of(found, "call_mismatch");
    ASSERT_NE(f, nullptr) << all_kinds(found);
    EXPECT_EQ(f->confidence, how == RF_ID_NAME ? Confidence::kInferred : Confidence::kProven);
  }
}

}  // namespace
}  // namespace rankfault::testing
