// The gate: what it does at an armed point, with or without a question to the harness, and what it records.
#include <gmock/gmock.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <csignal>

#include "tests/agent/agent_run.h"

namespace rankfault::test {
namespace {

rf_answer go(rf_gate_slot&) { return RF_ANSWER_GO; }

// Applies the verb, after a question, at the nth of ten all_reduces. Returns how the subject ended.
int end_with(AgentRun& run, uint32_t verb, uint64_t arg0, uint64_t nth = 4) {
  rf_armed& a = run.arm(RF_OP_ALL_REDUCE, verb);
  a.nth = nth;
  a.arg[0] = arg0;
  run.answer_with(go);
  const int end = run.run({"steps", "10"});
  run.stop_answering();
  return end;
}

TEST(Gate, SkipsACallWithoutATraceInTheFlightRecord) {
  AgentRun run;
  EXPECT_EQ(end_with(run, RF_VERB_SKIP, 0), 101) << "one call never reached the library";
  const Ring ring = run.ring();
  EXPECT_EQ(ring.count(RF_OP_ALL_REDUCE, RF_PHASE_ENTER), 9);
  EXPECT_EQ(ring.comm(0).entered, 9u);
  ASSERT_EQ(run.actions().size(), 1u);
  const auto done = Actions(run.actions()[0]).records();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].verb, uint32_t{RF_VERB_SKIP});
  EXPECT_EQ(done[0].effect, uint32_t{RF_EFFECT_DONE});
  EXPECT_EQ(done[0].seq, 4u) << "the one it would have had";
  EXPECT_EQ(done[0].comm_id, 7u);
  EXPECT_EQ(done[0].nth, 4u);
}

TEST(Gate, TellsTheHarnessWhoAsks) {
  AgentRun run;
  end_with(run, RF_VERB_SKIP, 0);
  ASSERT_EQ(run.seen().size(), 1u);
  const rf_gate_slot& slot = run.seen()[0];
  const Ring ring = run.ring();
  EXPECT_EQ(slot.pid, ring.header().pid);
  EXPECT_EQ(slot.start_time, ring.header().start_time);
  EXPECT_EQ(slot.pid_ns, ring.header().pid_ns);
  EXPECT_EQ(slot.rank, 0);
  EXPECT_EQ(slot.seq, 4u);
  EXPECT_EQ(slot.comm_id, 7u);
  EXPECT_EQ(slot.op, RF_OP_ALL_REDUCE);
  EXPECT_EQ(slot.count, 8u);
}

TEST(Gate, LeavesNoTraceOfADelayButTime) {
  AgentRun run;
  EXPECT_EQ(end_with(run, RF_VERB_DELAY, 30'000'000), 0);
  const auto records = run.ring().records(0);
  ASSERT_EQ(records.size(), 22u);
  const uint64_t gap = records[8].time_ns - records[7].time_ns;  // exit of the third, enter of the fourth
  EXPECT_GE(gap, 30'000'000u);
  EXPECT_LT(records[9].time_ns - records[8].time_ns, 30'000'000u) << "not inside the call";
}

// Without a question, only this field shows how long the delay took.
TEST(Gate, NotesTheShortestTimeThatADelayWithoutAQuestionHeldSomebody) {
  AgentRun run;
  rf_armed& a = run.arm(RF_OP_ALL_REDUCE, RF_VERB_DELAY);
  a.ask = 0;
  a.times = UINT64_MAX;
  a.arg[0] = 2'000'000;
  EXPECT_EQ(run.run({"steps", "3"}), 0);
  EXPECT_EQ(run.control().armed[0].done, 3u);
  EXPECT_GE(run.control().armed[0].held_least_ns, 2'000'000u);
}

TEST(Gate, EndsTheProcessBeforeTheCall) {
  AgentRun run;
  EXPECT_EQ(end_with(run, RF_VERB_EXIT, 42), 42);
  EXPECT_EQ(run.ring().count(RF_OP_ALL_REDUCE, RF_PHASE_ENTER), 3);
  EXPECT_EQ(run.ring().header().own_exit_status, 42);
}

TEST(Gate, RaisesASignalAtThePoint) {
  AgentRun run;
  EXPECT_EQ(end_with(run, RF_VERB_RAISE, SIGKILL), 1000 + SIGKILL);
  EXPECT_EQ(run.ring().count(RF_OP_ALL_REDUCE, RF_PHASE_EXIT), 3);
  EXPECT_EQ(run.ring().state(0).where, RF_OUTSIDE);
  EXPECT_EQ(run.control().armed[0].done, 1u);
}

TEST(Gate, FailsACallWithTheLibrarysOwnCode) {
  AgentRun run;
  EXPECT_EQ(end_with(run, RF_VERB_FAIL, 5), 5);
  const Ring ring = run.ring();
  EXPECT_EQ(ring.count(RF_OP_ALL_REDUCE, RF_PHASE_EXIT), 10);
  EXPECT_EQ(ring.comm(0).error, 5u);
}

TEST(Gate, ChangesAnArgumentAndRecordsTheChangedCall) {
  AgentRun run;
  rf_armed& a = run.arm(RF_OP_ALL_REDUCE, RF_VERB_ARG);
  a.arg[0] = RF_ARG_COUNT;
  a.arg[1] = 4;
  a.ask = 0;
  ASSERT_EQ(run.run({"steps", "2"}), 0);
  EXPECT_EQ(run.ring().records(0)[2].count, 4u);
  EXPECT_EQ(run.ring().records(0)[4].count, 8u);
}

TEST(Gate, WaitsWhileTheHarnessActs) {
  AgentRun run;
  run.arm(RF_OP_ALL_REDUCE, RF_VERB_OUTSIDE);
  uint8_t where = 99;
  run.answer_with([&](rf_gate_slot&) {
    where = run.ring().state(0).where;
    return RF_ANSWER_RELEASE;
  });
  EXPECT_EQ(run.run({"steps", "2"}), 0);
  EXPECT_EQ(where, RF_OUTSIDE) << "a parked thread looks like one that never came";
  EXPECT_EQ(run.control().armed[0].done, 0u) << "counted by who did it";
  EXPECT_EQ(Actions(run.actions().at(0)).records().at(0).effect, uint32_t{RF_EFFECT_DONE});
}

TEST(Gate, DoesNothingWhenTheHarnessSaysNo) {
  AgentRun run;
  run.arm(RF_OP_ALL_REDUCE, RF_VERB_SKIP);
  run.answer_with([](rf_gate_slot&) { return RF_ANSWER_NO_GO; });
  EXPECT_EQ(run.run({"steps", "5"}), 0);
  run.stop_answering();
  EXPECT_EQ(run.seen().size(), 1u) << "asked once: nth is exact";
  EXPECT_EQ(run.control().armed[0].done, 0u);
}

TEST(Gate, GoesOnWhenNobodyAnswersAndSaysSo) {
  AgentRun run;
  run.arm(RF_OP_ALL_REDUCE, RF_VERB_SKIP);
  run.control().park_limit_ns = 20'000'000;
  EXPECT_EQ(run.run({"steps", "5"}), 0);
  EXPECT_EQ(run.ring().header().partial, uint32_t{RF_PARTIAL_PARK});
  EXPECT_EQ(Actions(run.actions().at(0)).records().at(0).effect, uint32_t{RF_EFFECT_ABANDONED});
  EXPECT_EQ(run.control().slots[0].state, uint32_t{RF_GATE_ABANDONED});
}

TEST(Gate, WakesWhenTheHarnessIsGone) {
  AgentRun run;
  run.arm(RF_OP_ALL_REDUCE, RF_VERB_SKIP);
  run.control().park_limit_ns = 3600'000'000'000;
  run.answer_with([&](rf_gate_slot& slot) {
    RF_STORE(&run.control().harness_gone, 1u);
    syscall(SYS_futex, &slot.state, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    return RF_ANSWER_NONE;
  });
  EXPECT_EQ(run.run({"steps", "5"}), 0);
}

TEST(Gate, FiresWhatWasGrantedBeforehandSoOftenInTheWholeRun) {
  AgentRun run;
  rf_armed& a = run.arm(RF_OP_ALL_REDUCE, RF_VERB_SKIP);
  a.ask = 0;
  a.nth = 2;
  a.every = 3;
  a.times = 2;
  EXPECT_EQ(run.run({"steps", "12"}), 102);  // the 2nd and the 5th
  const auto done = Actions(run.actions().at(0)).records();
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].nth, 2u);
  EXPECT_EQ(done[1].nth, 5u);
  EXPECT_EQ(run.run({"steps", "12"}), 0) << "a restarted rank passes the same point unharmed";
  EXPECT_EQ(run.control().armed[0].fired, 2u);
}

TEST(Gate, FiresInEachAttemptWhenAsked) {
  AgentRun run;
  rf_armed& a = run.arm(RF_OP_ALL_REDUCE, RF_VERB_SKIP);
  a.ask = 0;
  a.each_attempt = 1;
  EXPECT_EQ(run.run({"steps", "3"}), 101);
  EXPECT_EQ(run.run({"steps", "3"}), 101);
}

TEST(Gate, MatchesRankAttemptCommunicatorAndOrder) {
  const auto fires = [](auto&& change) {
    AgentRun run;
    rf_armed& a = run.arm(RF_OP_NONE, RF_VERB_SKIP);
    run.control().armed_ops[0] = run.control().armed_ops[1] = UINT64_MAX;
    a.ask = 0;
    change(a);
    return run.run({"steps", "3"}) == 101;
  };
  EXPECT_TRUE(fires([](rf_armed&) {}));
  EXPECT_FALSE(fires([](rf_armed& a) { a.rank = 1; }));
  EXPECT_TRUE(fires([](rf_armed& a) { a.rank = -1; }));
  EXPECT_TRUE(fires([](rf_armed& a) { a.attempt = 0; }));
  EXPECT_FALSE(fires([](rf_armed& a) { a.attempt = 1; }));
  EXPECT_TRUE(fires([](rf_armed& a) { a.comm_select = RF_COMM_IS_WORLD; }));
  EXPECT_FALSE(fires([](rf_armed& a) { a.comm_select = RF_COMM_SIZE, a.comm_arg0 = 2; }));
  EXPECT_TRUE(fires([](rf_armed& a) { a.comm_select = RF_COMM_SIZE, a.comm_arg0 = 4; }));
  EXPECT_TRUE(
      fires([](rf_armed& a) { a.comm_select = RF_COMM_NAMED, a.comm_arg0 = rf_hash_text("fake_world"); }));
  EXPECT_FALSE(fires([](rf_armed& a) { a.comm_select = RF_COMM_ORDINAL, a.comm_arg0 = 1; }));
  EXPECT_FALSE(fires([](rf_armed& a) { a.step = 2; }));
  EXPECT_FALSE(fires([](rf_armed& a) { a.after = 9; }));
  EXPECT_FALSE(fires([](rf_armed& a) { a.nth = 4; }));
}

TEST(Gate, ActsAfterTheCallToo) {
  AgentRun run;
  rf_armed& a = run.arm(RF_OP_ALL_REDUCE, RF_VERB_EXIT);
  a.ask = 0;
  a.edge = RF_EDGE_AFTER;
  a.nth = 2;
  a.arg[0] = 9;
  EXPECT_EQ(run.run({"steps", "5"}), 9);
  EXPECT_EQ(run.ring().count(RF_OP_ALL_REDUCE, RF_PHASE_EXIT), 2);
}

TEST(Gate, SaysWhatItCannotDo) {
  AgentRun run;
  run.arm(RF_OP_ALL_REDUCE, RF_VERB_COUNT).ask = 0;
  EXPECT_EQ(run.run({"steps", "2"}), 0);
  EXPECT_EQ(Actions(run.actions().at(0)).records().at(0).effect, uint32_t{RF_EFFECT_UNABLE});
}

TEST(Marks, ArePointsWithStepsAndNames) {
  AgentRun run;
  rf_armed& flip = run.arm(RF_OP_VALUE, RF_VERB_FLIP);
  flip.ask = 0;
  flip.step = 4;
  flip.arg[0] = 1;
  rf_armed& batch = run.arm(RF_OP_BATCH, RF_VERB_SKIP);
  batch.ask = 0;
  batch.nth = 4;
  batch.phase = rf_hash_text("train");
  EXPECT_EQ(run.run({"marks"}), 3) << "the data ended after three batches";
  const auto records = run.ring().records(0);
  ASSERT_EQ(records.size(), 8u);
  EXPECT_EQ(records[2].where, 0x12u);
}

TEST(Marks, AreSkippedByNameOnly) {
  AgentRun run;
  rf_armed& a = run.arm(RF_OP_MARK, RF_VERB_EXIT);
  a.ask = 0;
  a.arg[0] = 55;
  a.mark = rf_hash_text("elsewhere");
  EXPECT_EQ(run.run({"marks"}), 10);
  a.mark = rf_hash_text("here");
  EXPECT_EQ(run.run({"marks"}), 55);
}

}  // namespace
}  // namespace rankfault::test
