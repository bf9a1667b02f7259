// state_rules_test: exits, deadlocks, late and stopped ranks, stalls: findings and near misses.
#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

TEST(ExitedRank, IsProvenWhenOthersNeedIt) {
  for (int code : {0, 7}) {
    TimelineBuilder job(3);
    job.everyone(all_reduce(), 2).blocked(0, all_reduce()).blocked(1, all_reduce()).exits(2, code);
    const Findings found = diagnose(job.build());
    ASSERT_EQ(found.all.size(), 1u) << all_kinds(found);
    EXPECT_EQ(found.all[0].kind, "exited_rank");
    EXPECT_EQ(found.all[0].ranks, std::vector<int>{2});
    EXPECT_EQ(found.all[0].seq->from, 3u);
    EXPECT_EQ(found.all[0].confidence, Confidence::kProven);
  }
}

TEST(ExitedRank, AnMpiProcessThatLeavesWithoutFinalizeIsNamed) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.everyone(all_reduce(), 2).exits(1, 0).killed(0, 15).killed(2, 15);
  const Findings found = diagnose(job.build());
  EXPECT_EQ(found.all.front().text, "rank 1 exited with 0 without MPI_Finalize") << all_kinds(found);
  TimelineBuilder good(3, RF_LIB_MPI);
  good.everyone(all_reduce(), 2);
  for (int r : {0, 1, 2}) good.finalized(r).exits(r, 0);
  EXPECT_TRUE(diagnose(good.build()).nothing_wrong());
}

TEST(ExitedRank, AnExitAfterTheLastCallIsNothing) {
  TimelineBuilder job(3);
  job.everyone(all_reduce(), 2).exits(2, 0);
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
}

TEST(ExitedRank, ThoseWhoFailedBecauseOfItHangUnderIt) {
  TimelineBuilder job(3);
  job.everyone(all_reduce(), 2)
      .exits(2, 9)
      .fails(0, all_reduce())
      .fails(1, all_reduce())
      .exits(0, 3)
      .exits(1, 3);
  const Findings found = diagnose(job.build());
  ASSERT_EQ(found.all.size(), 3u);
  EXPECT_EQ(found.all[0].ranks, std::vector<int>{2});
  EXPECT_EQ(found.all[1].caused_by, 0);
  EXPECT_EQ(found.all[2].caused_by, 0);
}

// The ranks met again on another communicator, in the same processes, and finished: none exited early.
TEST(ExitedRank, WhoWasLetDownAndRecoveredIsNotNamed) {
  TimelineBuilder job(3);
  job.comm("again", {0, 1, 2}).everyone(all_reduce(), 2);
  for (int r : {0, 1, 2}) job.fails(r, all_reduce());
  job.everyone(on(all_reduce(), "again"), 2);
  for (int r : {0, 1, 2}) job.exits(r, 0);
  const Findings found = diagnose(job.build());
  EXPECT_TRUE(found.nothing_wrong()) << all_kinds(found);
  TimelineBuilder failed(3);  // near miss: it gave up
  failed.everyone(all_reduce(), 2).fails(0, all_reduce()).fails(1, all_reduce()).exits(0, 3).exits(1, 0);
  EXPECT_EQ(all_kinds(diagnose(failed.build())).find("exited_rank") == std::string::npos, false);
}

TimelineBuilder crossed() {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.comm("a", {0, 1}).comm("b", {0, 1}).everyone(on(all_reduce(), "a")).everyone(on(all_reduce(), "b"));
  job.blocked(0, on(all_reduce(), "a")).blocked(1, on(all_reduce(), "b"));
  return job;
}

TEST(OrderDeadlock, IsACycleOfNeedsOverTwoCommunicators) {
  const Findings found = diagnose(crossed().build());
  ASSERT_EQ(found.all.size(), 1u) << all_kinds(found);
  EXPECT_EQ(found.all[0].kind, "order_deadlock");
  EXPECT_EQ(found.all[0].confidence, Confidence::kProven);
  EXPECT_EQ(found.all[0].sides.size(), 2u);
  EXPECT_TRUE(found.all[0].ranks.empty());
}

// A thread that never made a call has no lane: it may sleep, and then free the others.
TEST(OrderDeadlock, IsInferredWhereAnyThreadMayIssue) {
  EXPECT_EQ(diagnose(crossed().build()).all.front().assumes.back().name, "nobody_gives_up");
  TimelineBuilder job = crossed();
  job.rank(1).thread_multiple = true;
  const Finding f = diagnose(job.build()).all.front();
  EXPECT_EQ(f.kind, "order_deadlock");
  EXPECT_EQ(f.confidence, Confidence::kInferred);
  EXPECT_EQ(failed_assumptions(f), std::vector<std::string>{"no_new_issuer"});
}

// The limits of both ranks end the deadlock: each call fails and each rank exits.
TimelineBuilder crossed_and_given_up() {
  TimelineBuilder job = crossed();
  for (const int r : {0, 1})
    job.wait(5ms).returns(r, 0, RF_RESULT_THROWN).destroys(r, "b").destroys(r, "a").exits(r, 3);
  return job;
}

TEST(OrderDeadlock, StaysWhenTheRanksGaveUp) {
  const Findings found = diagnose(crossed_and_given_up().build());
  const Finding* f = finding_of(found, "order_deadlock");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f, &found.all.front()) << all_kinds(found);
  EXPECT_EQ(f->confidence, Confidence::kProven);
  EXPECT_EQ(finding_of(found, "missing_call"), nullptr) << all_kinds(found);
}

// Two leaders are in the call of the world, and on each node a rank waits for its leader. In the cycle that
// the finding shows it is two against one, but no rank is the odd one.
TEST(OrderDeadlock, BlamesNobodyWhereTheCommunicatorsDifferInSize) {
  TimelineBuilder job(4, RF_LIB_MPI);
  job.comm("n0", {0, 1}).comm("n1", {2, 3});
  job.blocked(0, all_reduce()).blocked(2, all_reduce());
  job.blocked(1, on(broadcast(0), "n0")).blocked(3, on(broadcast(0), "n1"));
  const Findings found = diagnose(job.build());
  const Finding* f = finding_of(found, "order_deadlock");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->confidence, Confidence::kProven);
  EXPECT_TRUE(f->ranks.empty());
}

// The first to give up has left communicator b but has not ended: it did not leave out a call on b.
TEST(OrderDeadlock, IsSeenAmongCallsThatWerePolledToTheEnd) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.comm("a", {0, 1}).comm("b", {0, 1});
  CallSpec polled = all_reduce();
  polled.flags |= RF_CALL_NONBLOCKING;
  job.enqueues(0, on(polled, "a")).enqueues(1, on(polled, "b"));
  EXPECT_EQ(finding_of(diagnose(job.build()), "order_deadlock"), nullptr);  // they may continue
  TimelineBuilder killed = job;  // two independent requests, and a job that something else ended
  killed.exits(0, 3).killed(1, 15);
  EXPECT_EQ(finding_of(diagnose(killed.build()), "order_deadlock"), nullptr);
  CallSpec abort;
  abort.op = RF_OP_COMM_ABORT;
  job.wait(5ms).blocked(0, abort).exits(0, 3).killed(1, 15);
  const Findings found = diagnose(job.build());
  EXPECT_EQ(found.all.front().kind, "order_deadlock") << all_kinds(found);
  EXPECT_EQ(found.all.front().confidence, Confidence::kInferred);
}

// Both receives use a type that was not committed: no rank waited for another.
TEST(OrderDeadlock, IsSilentOfCallsThatWereRefused) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.everyone(all_reduce());
  for (const int r : {0, 1}) job.fails(r, recv(1 - r), 3);
  job.exits(0, 2).exits(1, 2);
  const Findings found = diagnose(job.build());
  EXPECT_EQ(finding_of(found, "order_deadlock"), nullptr) << all_kinds(found);
}

// Each waited for a while, and one gave up before the other came.
TEST(OrderDeadlock, IsSilentOfThoseWhoNeverWaitedAtOneInstant) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.everyone(all_reduce());
  for (const int r : {0, 1}) job.blocked(r, recv(1 - r)).wait(1s).returns(r, 0, 3);
  job.exits(0, 2).exits(1, 2);
  const Findings found = diagnose(job.build());
  EXPECT_EQ(finding_of(found, "order_deadlock"), nullptr) << all_kinds(found);
}

TEST(OrderDeadlock, IsNotTakenForAMissingCallWhileTheRanksGiveUp) {
  TimelineBuilder job = crossed();
  job.returns(0, 0, RF_RESULT_THROWN).destroys(0, "b").destroys(0, "a");
  const Findings found = diagnose(job.build());
  EXPECT_EQ(finding_of(found, "missing_call"), nullptr) << all_kinds(found);
}

TEST(OrderDeadlock, IsSilentWhenARankCameAfterItsCallHadFailed) {
  TimelineBuilder job = crossed();
  job.returns(1, 0, RF_RESULT_THROWN).fails(1, on(all_reduce(), "a")).exits(1, 3);
  job.returns(0, 0, RF_RESULT_THROWN).exits(0, 3);
  EXPECT_EQ(finding_of(diagnose(job.build()), "order_deadlock"), nullptr);
}

TEST(OrderDeadlock, IsSilentOfALiveRankWhoseCallFailed) {
  TimelineBuilder job = crossed();
  job.returns(1, 0, RF_RESULT_THROWN);
  EXPECT_EQ(finding_of(diagnose(job.build()), "order_deadlock"), nullptr);
}

TEST(OrderDeadlock, IsSilentWhenOneWaitNeedsNobody) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.comm("a", {0, 1}).comm("b", {0, 1});
  job.blocked(0, on(broadcast(0), "a")).blocked(1, on(all_reduce(), "b"));
  EXPECT_EQ(finding_of(diagnose(job.build()), "order_deadlock"), nullptr);
}

// The look comes between the enter and the return of a nonblocking call: that rank will continue at once.
TEST(OrderDeadlock, IsSilentInsideANonblockingCall) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.comm("a", {0, 1}).comm("b", {0, 1}).everyone(on(all_reduce(), "a")).everyone(on(all_reduce(), "b"));
  CallSpec iallreduce = on(all_reduce(), "a");
  iallreduce.flags = RF_CALL_NONBLOCKING;
  job.blocked(0, iallreduce).blocked(1, on(all_reduce(), "b"));
  EXPECT_EQ(finding_of(diagnose(job.build()), "order_deadlock"), nullptr);
}

TEST(StoppedRank, IsInferredOnly) {
  TimelineBuilder job(3);
  job.everyone(all_reduce()).blocked(0, all_reduce()).blocked(1, all_reduce());
  job.rank(2).stopped = true;
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong()) << "it may go on at once";
  job.wait(3s);
  const Findings found = diagnose(job.build());
  ASSERT_EQ(found.all.size(), 1u) << all_kinds(found);
  EXPECT_EQ(found.all[0].kind, "stopped_rank");
  EXPECT_EQ(found.all[0].ranks, std::vector<int>{2});
  EXPECT_EQ(found.all[0].seq->from, 2u);
  EXPECT_EQ(found.all[0].confidence, Confidence::kInferred);
}

TEST(SlowRank, SpeaksOnlyBeyondItsLimit) {
  TimelineBuilder job(3);
  job.everyone(all_reduce()).blocked(0, all_reduce()).blocked(1, all_reduce()).wait(1s);
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
  job.wait(2s);
  const Findings found = diagnose(job.build());
  ASSERT_EQ(found.all.size(), 1u) << all_kinds(found);
  EXPECT_EQ(found.all[0].kind, "slow_rank");
  EXPECT_EQ(found.all[0].ranks, std::vector<int>{2});
  EXPECT_EQ(found.all[0].confidence, Confidence::kInferred);
}

TEST(SlowRank, ARankInsideAnotherCallIsNotCalledSlow) {
  TimelineBuilder job(3);
  job.comm("pair", {1, 2}).everyone(all_reduce()).everyone(on(all_reduce(), "pair"));
  job.blocked(0, all_reduce()).blocked(1, on(all_reduce(), "pair")).wait(60s);
  const Findings found = diagnose(job.build());
  const Finding* f = finding_of(found, "slow_rank");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->ranks, std::vector<int>{2});
  EXPECT_EQ(found.all.size(), 1u);
}

TEST(StuckOutside, IsASleeperAfterALongWhile) {
  TimelineBuilder job(2);
  job.everyone(all_reduce()).blocked(0, all_reduce());
  job.lane_of(1).thread_state = 'S';
  job.wait(15s);
  EXPECT_EQ(all_kinds(diagnose(job.build())), "slow_rank");
  job.wait(15s);
  EXPECT_EQ(all_kinds(diagnose(job.build())), "stuck_outside");
  job.lane_of(1).thread_state = 'R';
  EXPECT_EQ(all_kinds(diagnose(job.build())), "slow_rank");
}

TEST(Wedged, BlamesNobodyWhenEverybodyCame) {
  TimelineBuilder job(3);
  for (int r : {0, 1, 2}) job.blocked(r, all_reduce());
  job.wait(15s);
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong()) << "a large call may take long";
  job.wait(10s);
  const Findings found = diagnose(job.build());
  EXPECT_EQ(all_kinds(found), "wedged");
  EXPECT_TRUE(found.all[0].ranks.empty());
  EXPECT_EQ(found.all[0].confidence, Confidence::kInferred);
}

// The difference is reported at once. That the job stands is reported as late as any other wedge.
TEST(Wedged, IsAlsoWhatCallsThatDifferComeTo) {
  TimelineBuilder job(3);
  for (int r : {0, 1}) job.blocked(r, barrier());
  job.blocked(2, all_reduce());
  job.wait(15s);
  EXPECT_EQ(all_kinds(diagnose(job.build())), "call_mismatch");
  job.wait(10s);
  const Findings found = diagnose(job.build());
  ASSERT_EQ(all_kinds(found), "call_mismatch wedged");
  EXPECT_EQ(found.all[1].caused_by, 0);
  EXPECT_THAT(found.all[1].text, ::testing::HasSubstr("different calls"));
  EXPECT_EQ(found.all[1].sides.size(), 2u);
}

// Rank 2 left the call that differs and is in a later one.
TEST(Wedged, AlsoWhereOneStandsFurtherOn) {
  TimelineBuilder job(3);
  job.blocked(0, broadcast(0)).blocked(1, broadcast(1)).does(2, broadcast(0)).blocked(2, barrier());
  job.wait(25s);
  const Findings found = diagnose(job.build());
  ASSERT_NE(finding_of(found, "call_mismatch"), nullptr);
  EXPECT_NE(finding_of(found, "wedged"), nullptr) << all_kinds(found);
}

TEST(Wedged, WhoWaitsForACoreMayYetMoveIt) {
  TimelineBuilder job(3);
  for (int r : {0, 1, 2}) job.blocked(r, all_reduce());
  job.rank(1).starved = 8s;
  job.wait(27s);
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
  job.wait(2s);
  EXPECT_EQ(all_kinds(diagnose(job.build())), "wedged");
}

// Even with a core the calls would not complete.
TEST(Wedged, CallsThatCannotMatchAreToldOnABusyMachineToo) {
  TimelineBuilder job(3);
  for (int r : {0, 1}) job.blocked(r, barrier());
  job.blocked(2, all_reduce());
  for (int r : {0, 1, 2}) job.rank(r).starved = 60s;
  job.wait(25s);
  EXPECT_NE(finding_of(diagnose(job.build()), "wedged"), nullptr);
}

TEST(DuplicateRank, TwoLivingProcessesOfOneRank) {
  TimelineBuilder job(2);
  job.everyone(all_reduce());
  Timeline t = job.build();
  t.processes.push_back(t.processes[1]);
  t.processes.back().id.pid = 77;
  EXPECT_NE(finding_of(diagnose(t), "duplicate_rank"), nullptr);
  t.processes[1].end = {EndKind::kEnded, t.processes.back().member - 1ns, true, false, 0};
  t.processes[1].member -= 10ns;
  EXPECT_EQ(finding_of(diagnose(t), "duplicate_rank"), nullptr) << "one after the other is no duplicate";
}

void libc_call(Timeline& t, size_t process, uint16_t op, const std::string& path, int result) {
  ProcessView& p = t.processes[process];
  const auto offset = static_cast<uint32_t>(100 + p.name_at.size());
  p.name_at[offset] = path;
  for (const uint8_t phase : {RF_PHASE_ENTER, RF_PHASE_EXIT}) {
    Event e;
    e.index = p.lanes.front().head++;
    e.record.time_ns = ns_of(t.look);
    e.record.phase = phase;
    e.record.op = op;
    e.record.library = RF_LIB_LIBC;
    e.record.seq = offset;
    e.record.comm = RF_NO_COMM;
    e.record.call = 500 + static_cast<uint32_t>(p.name_at.size());
    e.record.tag_or_result = phase == RF_PHASE_EXIT ? result : 0;
    p.history.push_back(e);
  }
}

TEST(HostResource, NamesASegmentTheJobMadeAndThatIsGone) {
  TimelineBuilder job(3);
  job.everyone(all_reduce());
  Timeline t = job.build();
  libc_call(t, 0, RF_OP_SHM_CREATE, "/dev/shm/vader.1", 0);
  libc_call(t, 1, RF_OP_SHM_ATTACH, "/dev/shm/vader.1", ENOENT);
  libc_call(t, 2, RF_OP_SHM_ATTACH, "/dev/shm/vader.1", ENOENT);
  const Findings found = diagnose(t);
  const Finding* f = finding_of(found, "host_resource");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->resource, "/dev/shm/vader.1");
  EXPECT_EQ(f->ranks, (std::vector<int>{1, 2}));
  EXPECT_EQ(f->field, "ENOENT");
}

TEST(HostResource, IsSilentWhenAProgramProbesForAFile) {
  TimelineBuilder job(2);
  job.everyone(all_reduce());
  Timeline t = job.build();
  libc_call(t, 0, RF_OP_SHM_ATTACH, "/dev/shm/probe", ENOENT);
  EXPECT_EQ(finding_of(diagnose(t), "host_resource"), nullptr);
}

TEST(Diagnose, SaysThatItCannotSayWhenNothingWasRecorded) {
  EXPECT_TRUE(diagnose(Timeline{}).cannot_say());
  EXPECT_TRUE(diagnose(TimelineBuilder(3).build()).cannot_say());
}

}  // namespace
}  // namespace rankfault::testing
