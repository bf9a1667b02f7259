// What the flight record of a process contains after the process ran.
#include <gmock/gmock.h>
#include <unistd.h>

#include <set>

#include "tests/agent/agent_run.h"

namespace rankfault::test {
namespace {

// The expected value of rf_comm.calls: over the calls on communicator 0, all still in their rings.
uint64_t sum_of_calls(const Ring& ring) {
  uint64_t sum = 0;
  for (uint32_t lane = 0; lane < ring.header().lanes_used; ++lane)
    for (const rf_record& r : ring.records(lane))
      if (r.phase == RF_PHASE_ENTER && r.comm == 0 && r.seq != 0)
        sum += rf_call_word(r.seq, r.op, r.peer, r.flags);
  return sum;
}

// The next call of the thread detects the jump.
TEST(FlightRecord, ACallThatAJumpLeftHasEnded) {
  AgentRun run;
  ASSERT_EQ(run.run({"jump_out_of_a_call"}), 0) << run.out();
  const Ring ring = run.ring();
  EXPECT_EQ(ring.count(RF_OP_ALL_REDUCE, RF_PHASE_ENTER), 3);
  EXPECT_EQ(ring.count(RF_OP_ALL_REDUCE, RF_PHASE_ERROR), 1);
  EXPECT_EQ(ring.count(RF_OP_ALL_REDUCE, RF_PHASE_EXIT), 2);
  EXPECT_EQ(ring.state(0).where, RF_OUTSIDE);
  EXPECT_EQ(ring.comm(0).failures, 1u);
  EXPECT_EQ(ring.header().opaque, uint32_t{RF_OPAQUE_COMMUNICATION | RF_OPAQUE_NESTED});
}

TEST(FlightRecord, ACallFromAnotherStackEndsNone) {
  AgentRun run;
  ASSERT_EQ(run.run({"call_from_another_stack"}), 2) << run.out();
  const Ring ring = run.ring();
  EXPECT_EQ(ring.count(RF_OP_ALL_REDUCE, RF_PHASE_ENTER), 3)
      << "the one inside has none, those after it have";
  EXPECT_EQ(ring.count(RF_OP_ALL_REDUCE, RF_PHASE_EXIT), 3);
  EXPECT_EQ(ring.comm(0).failures, 0u);
  EXPECT_EQ(ring.header().opaque, 0u);
}

TEST(FlightRecord, KeepsEveryCallOfTheLibrary) {
  AgentRun run;
  ASSERT_EQ(run.run({"steps", "25"}), 0) << run.out();
  const Ring ring = run.ring();
  EXPECT_EQ(ring.header().magic, RF_RING_MAGIC);
  EXPECT_EQ(ring.header().stage, uint32_t{RF_STAGE_MEMBER});
  EXPECT_EQ(ring.header().rank, 0);
  EXPECT_EQ(ring.header().world_size, 4);
  EXPECT_STREQ(ring.header().env_rank_source, "RANK");
  EXPECT_EQ(ring.count(RF_OP_ALL_REDUCE, RF_PHASE_ENTER), 25);
  EXPECT_EQ(ring.count(RF_OP_ALL_REDUCE, RF_PHASE_EXIT), 25);
  EXPECT_EQ(ring.comm(0).entered, 25u);
  EXPECT_EQ(ring.comm(0).completed, 25u);
  EXPECT_EQ(ring.comm(0).calls, sum_of_calls(ring));
  EXPECT_TRUE(ring.comm(0).flags & RF_COMM_WORLD);
  EXPECT_EQ(ring.name(ring.comm(0).name), "fake_world");
  EXPECT_EQ(ring.state(0).where, RF_OUTSIDE);
  EXPECT_EQ(ring.header().partial, 0u);
  EXPECT_STREQ(ring.header().coverage[0].decoder, "fake");
  EXPECT_TRUE(run.actions().empty()) << "nothing was done to it";
}

TEST(FlightRecord, NumbersCallsAndSequences) {
  AgentRun run;
  ASSERT_EQ(run.run({"steps", "3"}), 0);
  const auto records = run.ring().records(0);
  ASSERT_EQ(records.size(), 8u);  // init and three all_reduces
  for (size_t i = 2; i < 8; ++i) {
    EXPECT_EQ(records[i].seq, i / 2);
    EXPECT_EQ(records[i].call, i / 2 + 1);
    EXPECT_EQ(records[i].phase, i % 2 ? RF_PHASE_EXIT : RF_PHASE_ENTER);
    EXPECT_GE(records[i].time_ns, records[i - 1].time_ns);
  }
  EXPECT_NE(records[2].where, 0u);
}

TEST(FlightRecord, SaysWhichCallsNobodyUnderstands) {
  AgentRun run;
  ASSERT_EQ(run.run({"hard_signatures"}), 0) << run.out();
  EXPECT_EQ(run.ring().header().opaque, uint32_t{RF_OPAQUE_COMMUNICATION | RF_OPAQUE_RMA});
}

TEST(FlightRecord, HoldsTheExitOfACallThatThrew) {
  AgentRun run;
  ASSERT_EQ(run.run({"exceptions"}), 0) << run.out();
  const Ring ring = run.ring();
  EXPECT_EQ(ring.count(RF_OP_BARRIER, RF_PHASE_ENTER), 3);
  EXPECT_EQ(ring.count(RF_OP_BARRIER, RF_PHASE_ERROR), 3);
  EXPECT_EQ(ring.count(RF_OP_ALL_REDUCE, RF_PHASE_EXIT), 1);
  EXPECT_EQ(ring.comm(0).entered, 4u);
}

TEST(FlightRecord, CountsPendingWorkWhenItIsSeenComplete) {
  AgentRun run;
  ASSERT_EQ(run.run({"counts"}), 0);
  const Ring ring = run.ring();
  EXPECT_EQ(ring.count(RF_OP_ALL_REDUCE, RF_PHASE_ENQUEUE), 1);
  EXPECT_EQ(ring.count(RF_OP_NONE, RF_PHASE_COMPLETE), 1);
  EXPECT_EQ(ring.count(RF_OP_BARRIER, RF_PHASE_ENTER), 0) << "an inner call is not the user's";
}

TEST(FlightRecord, HasTheErrorsThatTheProgramHandled) {
  AgentRun run;
  ASSERT_EQ(run.run({"handled_errors"}), 0) << run.out();
  const Ring ring = run.ring();
  std::vector<int32_t> results;
  for (const rf_record& r : ring.records(0))
    if (r.phase == RF_PHASE_EXIT) results.push_back(r.tag_or_result);
  EXPECT_THAT(results, ::testing::ElementsAre(7, 0, 9));
  EXPECT_EQ(ring.count(RF_OP_ALL_REDUCE, RF_PHASE_ENQUEUE), 0) << "nothing is pending";
  EXPECT_EQ(ring.state(0).last_result, 9);
}

TEST(FlightRecord, OneLibraryThatAllowsAnyThreadIsEnough) {
  AgentRun run;
  ASSERT_EQ(run.run({"two_thread_levels"}), 0) << run.out();
  EXPECT_EQ(run.ring().header().thread_multiple, 1u);
}

TEST(FlightRecord, IsPartialWhenCommunicatorsDoNotFit) {
  AgentRun run;
  ASSERT_EQ(run.run({"too_many_comms"}), 0);
  EXPECT_EQ(run.ring().header().partial, uint32_t{RF_PARTIAL_COMMS});
}

// The limit holds for communicators that exist at the same time, and also for their member lists and names.
TEST(FlightRecord, UsesTheEntryOfAFreedCommunicatorAgain) {
  AgentRun run;
  ASSERT_EQ(run.run({"comms_in_turn", "700"}), 0);
  const Ring ring = run.ring();
  EXPECT_EQ(ring.header().partial, 0u);
  EXPECT_EQ(ring.comm(0).id, 1u);
  EXPECT_EQ(ring.comm(0).entered, 1u);
  std::set<uint64_t> ids;
  for (uint32_t i = 1; i < RF_MAX_COMMS; ++i) {
    const rf_comm& c = ring.comm(i);
    if (c.state != RF_COMM_DESTROYED) continue;  // its member list was given to another communicator
    EXPECT_EQ(RF_COMM_SLOT(c.number), i);
    EXPECT_EQ(c.entered, 1u) << "an entry counts from 0 again";
    EXPECT_EQ(c.completed, 1u);
    EXPECT_EQ(c.size, 1 + (c.id - 2) * 7 % 300);
    const auto* members = reinterpret_cast<const int32_t*>(ring.file.at(RF_OFF_MEMBERS)) + c.members;
    EXPECT_EQ(members[0], static_cast<int32_t>(c.id)) << "a list that is in use stays";
    EXPECT_EQ(members[c.size - 1], static_cast<int32_t>(c.id + c.size) - 1);
    ids.insert(c.id);
  }
  EXPECT_EQ(*ids.rbegin(), 701u);
  EXPECT_EQ(ids.size(), 702 - *ids.begin()) << "the longest freed went first";
  EXPECT_GT(ids.size(), 40u);
}

TEST(FlightRecord, NamesTheProcessesThatAMemberDescendsFrom) {
  AgentRun run;
  ASSERT_EQ(run.run({"steps", "1"}), 0);
  EXPECT_EQ(run.ring().header().ancestors[0], ::getpid());
  EXPECT_EQ(run.ring().header().ancestors[1], ::getppid());
}

TEST(FlightRecord, IsPartialWhenNamesDoNotFit) {
  AgentRun run;
  ASSERT_EQ(run.run({"too_many_names"}), 0);
  EXPECT_EQ(run.ring().header().partial, uint32_t{RF_PARTIAL_NAMES});
}

TEST(Marks, AreRecordedWithoutAnyLibrary) {
  AgentRun run;
  ASSERT_EQ(run.run({"marks"}), 10);
  const Ring ring = run.ring();
  EXPECT_EQ(ring.header().stage, uint32_t{RF_STAGE_CANDIDATE}) << "only a library makes a member";
  EXPECT_EQ(ring.header().last_step_begun, 5u);
  EXPECT_EQ(ring.header().last_step_committed, 5u);
  const auto records = ring.records(0);
  ASSERT_EQ(records.size(), 15u);
  EXPECT_EQ(ring.name(static_cast<uint32_t>(records[0].tag_or_result)), "train");
  EXPECT_EQ(records[2].where, 0x10u);
  EXPECT_EQ(records[2].count, 4u);
  EXPECT_EQ(ring.name(static_cast<uint32_t>(records[3].tag_or_result)), "here");
}

}  // namespace
}  // namespace rankfault::test
