// silence_test: waits without a record of needs: calls known only by their names, and polls. A hang in one of
// them is never "nothing wrong".
#include "harness/agent/named_calls.h"
#include "harness/diagnose/rule.h"
#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

using ::testing::HasSubstr;

CallSpec named(int id, uint16_t op = RF_OP_IO, uint64_t all = 1) {
  CallSpec call;
  call.op = op;
  call.count = all;
  call.tag = id;
  return call;
}
CallSpec write_all() { return named(RF_NAMED_MPI_File_write_at_all); }

CallSpec nonblocking(CallSpec call) {
  call.flags |= RF_CALL_NONBLOCKING;
  return call;
}

// All ranks but rank 1 are in a call of all ranks.
TimelineBuilder without_rank_1(const CallSpec& call) {
  TimelineBuilder job(4, RF_LIB_MPI);
  job.everyone(all_reduce()).everyone(call);
  for (int r : {0, 2, 3}) job.blocked(r, call);
  return job;
}

TEST(NamedCalls, WhoIsNotInACallOfAllIsTold) {
  for (const CallSpec& call : {write_all(), named(RF_NAMED_MPI_Win_fence, RF_OP_RMA)}) {
    TimelineBuilder job = without_rank_1(call);
    job.wait(15s);
    EXPECT_TRUE(diagnose(job.build()).nothing_wrong()) << "files are slow";
    job.wait(10s);
    const Findings found = diagnose(job.build());
    EXPECT_EQ(all_kinds(found), "slow_rank");
    EXPECT_EQ(found.all[0].ranks, std::vector<int>{1});
    EXPECT_EQ(found.all[0].sides.at(0).ranks, (std::vector<int>{0, 2, 3}));
    EXPECT_THAT(found.all[0].text, HasSubstr("MPI_"));
    job.lane_of(1).thread_state = 'S';
    EXPECT_EQ(all_kinds(diagnose(job.build())), "stuck_outside");
  }
}

TEST(NamedCalls, NoRankIsToldOfACallThatAllAreIn) {
  TimelineBuilder job = without_rank_1(write_all());
  job.blocked(1, write_all()).wait(60s);
  const Findings found = diagnose(job.build());
  EXPECT_TRUE(found.cannot_say()) << all_kinds(found);
  EXPECT_THAT(found.all[0].text, HasSubstr("has been inside MPI_File_write_at_all"));
  for (int r : {0, 1, 2, 3}) job.returns(r);
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
}

// One rank closes the file while the others still set its view.
TEST(NamedCalls, CallsOfAllThatAreNotTheSameStandStill) {
  TimelineBuilder job = without_rank_1(named(RF_NAMED_MPI_File_set_view));
  job.blocked(1, named(RF_NAMED_MPI_File_close)).wait(19s);
  EXPECT_EQ(finding_of(diagnose(job.build()), "wedged"), nullptr);
  job.wait(6s);
  const Findings found = diagnose(job.build());
  ASSERT_EQ(all_kinds(found), "wedged");
  EXPECT_TRUE(found.all[0].ranks.empty());
  ASSERT_EQ(found.all[0].sides.size(), 2u);
  EXPECT_THAT(found.all[0].sides[1].what, HasSubstr("MPI_File_close"));
  job.returns(1);  // near miss: it closed another file
  EXPECT_EQ(finding_of(diagnose(job.build()), "wedged"), nullptr);
}

TEST(NamedCalls, ACallOfOneRankOrOfAnUnknownCommunicatorIsNeverNothing) {
  for (const CallSpec& call :
       {named(RF_NAMED_MPI_Win_lock, RF_OP_RMA, 0), named(RF_NAMED_STORE_WAIT, RF_OP_STORE, 0)}) {
    TimelineBuilder job(2, RF_LIB_MPI);
    job.everyone(all_reduce()).blocked(0, call).wait(25s);
    const Findings found = diagnose(job.build());
    EXPECT_TRUE(found.cannot_say()) << all_kinds(found);
    job.returns(0);
    EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
  }
}

TEST(NamedCalls, WhoIsInAFileWhileOthersWaitIsToldWithIt) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.everyone(all_reduce()).blocked(0, barrier()).blocked(1, named(RF_NAMED_MPI_File_write, RF_OP_IO, 0));
  job.wait(5s);
  const Findings found = diagnose(job.build());
  ASSERT_EQ(all_kinds(found), "slow_rank");
  EXPECT_EQ(found.all[0].ranks, std::vector<int>{1});
  EXPECT_THAT(found.all[0].text,
              HasSubstr("rank 1 is in MPI_File_write while others wait for it in barrier"));
}

// Rank 1 writes with rank 2 to their file, for as long as the file system takes. The others wait for both.
TEST(NamedCalls, ACollectiveWriteOfAPartOfTheRanksIsNeverCalledHung) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.comm("file", {1, 2}).everyone(all_reduce()).blocked(0, barrier());
  for (const int r : {1, 2}) {
    job.blocked(r, on(write_all(), "file"));
    job.lane_of(r).thread_state = 'S';
  }
  job.wait(60s);
  const Findings found = diagnose(job.build());
  EXPECT_EQ(all_kinds(found), "slow_rank slow_rank");
  for (const Finding& f : found.all) EXPECT_FALSE(says_it_hangs(f)) << f.text;
  EXPECT_THAT(found.all[0].text, HasSubstr("is in MPI_File_write_at_all"));
}

// All ranks wait: those in the call of all for rank 1, and rank 1 for them.
TEST(NamedCalls, WhoWaitsInACallOfAllIsNotToBlame) {
  TimelineBuilder job = without_rank_1(write_all());
  job.blocked(1, barrier()).wait(25s);
  const Findings found = diagnose(job.build());
  ASSERT_FALSE(found.nothing_wrong());
  for (const Finding& f : found.all) EXPECT_TRUE(f.ranks.empty()) << f.text;
}

TimelineBuilder polled_barrier() {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.everyone(all_reduce());
  for (int r : {0, 2}) job.enqueues(r, nonblocking(barrier()));
  return job;
}
void poll(TimelineBuilder& job, std::initializer_list<int> ranks) {
  for (int r : ranks) job.lane_of(r).polled = job.now();
}

TEST(Polls, WhoDidNotEnterAPolledCollectiveIsTold) {
  TimelineBuilder job = polled_barrier();
  job.wait(15s);
  poll(job, {0, 2});
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong()) << "it may be long at its work";
  job.wait(10s);
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong()) << "near miss: nobody asks for it any more";
  poll(job, {0, 2});
  const Findings found = diagnose(job.build());
  EXPECT_EQ(all_kinds(found), "slow_rank");
  EXPECT_EQ(found.all[0].ranks, std::vector<int>{1});
}

TEST(Polls, WhatAllHaveEnteredAndNothingCompletesIsWedged) {
  TimelineBuilder job = polled_barrier();
  job.enqueues(1, nonblocking(barrier())).wait(25s);
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
  poll(job, {0, 1, 2});
  EXPECT_EQ(all_kinds(diagnose(job.build())), "wedged");
}

// Rank 0 waits for a message that no probe finds. The others wait for rank 0.
TEST(Polls, WhoPollsIsNotToBlame) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.everyone(all_reduce());
  for (int r : {1, 2}) job.blocked(r, barrier());
  job.wait(5s);
  poll(job, {0});
  Findings found = diagnose(job.build());
  ASSERT_EQ(all_kinds(found), "slow_rank");
  EXPECT_TRUE(found.all[0].ranks.empty());
  EXPECT_THAT(found.all[0].text, HasSubstr("rank 0 polls without success while others wait for it"));
  job.wait(20s);
  job.lane_of(0).thread_state = 'S';
  poll(job, {0});
  EXPECT_EQ(all_kinds(diagnose(job.build())), "wedged");
}

// A rule other than the one for slow ranks reports a poll that lasts without end, as wedged.
TEST(Rules, MakeFindingsOfTheirOwnKindAlone) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.everyone(all_reduce());
  for (int r : {1, 2}) job.blocked(r, barrier());
  job.wait(25s);
  job.lane_of(0).thread_state = 'S';
  poll(job, {0});
  const Timeline timeline = job.build();
  const JobView view(timeline);
  size_t made = 0;
  for (const Rule* rule : Catalog<Rule>::instance().all())
    for (const Finding& f : rule->look(view, {})) {
      EXPECT_EQ(f.kind, rule->name);
      ++made;
    }
  EXPECT_EQ(made, 1u);
}

TEST(Silence, AnIntercommunicatorIsCalledOne) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.comm("inter", {0, 1});
  for (int r : {0, 1}) job.comm_of(r, "inter").flags |= RF_COMM_INTER;
  job.everyone(all_reduce()).blocked(0, on(all_reduce(), "inter")).wait(5s);
  Timeline timeline = job.build();
  for (ProcessView& p : timeline.processes)
    for (CommView& c : p.comms)
      if (c.flags & RF_COMM_INTER) c.name.clear();
  const Findings found = diagnose(timeline);
  ASSERT_TRUE(found.cannot_say()) << all_kinds(found);
  EXPECT_THAT(found.all.front().text, HasSubstr("on an intercommunicator, "));
}

// Some calls have no record (Fortran's MPI-IO, MPI_Comm_spawn). The record only says that they were made.
TEST(NamedCalls, ARankThatMakesCallsWithoutARecordIsNotCalledWell) {
  for (const uint32_t opaque : {RF_OPAQUE_IO, RF_OPAQUE_RMA, RF_OPAQUE_COMMUNICATION}) {
    TimelineBuilder job(2, RF_LIB_MPI);
    job.everyone(all_reduce());
    job.rank(0).opaque = opaque;
    job.wait(15s);
    EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
    job.wait(10s);
    EXPECT_TRUE(diagnose(job.build()).cannot_say()) << opaque;
    for (int r : {0, 1}) job.finalized(r).exits(r, 0);
    EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
  }
}

}  // namespace
}  // namespace rankfault::testing
