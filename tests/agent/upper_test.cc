// Upper calls: what the program calls (c10d) where the calls below are recorded (NCCL). Which of the two an
// action acts at, what a failure becomes, and what the record learns.
#include <gmock/gmock.h>

#include "tests/agent/agent_run.h"

namespace rankfault::test {
namespace {

rf_armed& arm_granted(AgentRun& run, uint32_t verb, uint64_t nth = 1) {
  rf_armed& a = run.arm(RF_OP_ALL_REDUCE, verb);
  a.ask = 0;
  a.nth = nth;
  return a;
}

std::vector<rf_action_record> records_of(const AgentRun& run) {
  return Actions(run.actions().at(0)).records();
}

TEST(Upper, AnActionThatNamesNoLibraryActsAtTheCallOfTheProgram) {
  AgentRun run;
  arm_granted(run, RF_VERB_SKIP, 4);
  EXPECT_EQ(run.run({"upper_calls", "10"}), 101);
  EXPECT_EQ(run.ring().count(RF_OP_ALL_REDUCE, RF_PHASE_ENTER), 18) << "neither of the two calls below";
  const auto done = records_of(run);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].library, RF_LIB_C10D);
  EXPECT_EQ(done[0].effect, uint32_t{RF_EFFECT_DONE});
  EXPECT_EQ(done[0].nth, 4u) << "counts neither the calls below nor upper calls inside upper calls";
  EXPECT_EQ(done[0].seq, 7u) << "the place of the first call below";
  EXPECT_EQ(done[0].comm_id, 7u);
  EXPECT_EQ(done[0].count, 5u);
}

TEST(Upper, AnActionActsAtTheCallsOfTheLibraryThatItNames) {
  AgentRun run;
  arm_granted(run, RF_VERB_SKIP, 4).library = RF_LIB_NCCL;
  EXPECT_EQ(run.run({"upper_calls", "10"}), 0);
  EXPECT_EQ(run.ring().count(RF_OP_ALL_REDUCE, RF_PHASE_ENTER), 19);
  ASSERT_EQ(records_of(run).size(), 1u);
  EXPECT_EQ(records_of(run)[0].library, RF_LIB_NCCL);
  EXPECT_EQ(records_of(run)[0].seq, 4u);
}

TEST(Upper, TheUpperLibraryCanBeNamedToo) {
  AgentRun run;
  arm_granted(run, RF_VERB_SKIP, 4).library = RF_LIB_C10D;
  EXPECT_EQ(run.run({"upper_calls", "10"}), 101);
  AgentRun other;
  arm_granted(other, RF_VERB_SKIP, 4).library = RF_LIB_MPI;
  EXPECT_EQ(other.run({"upper_calls", "10"}), 0);
}

TEST(Upper, CallsOutsideUpperCallsAreCallsOfTheProgram) {
  AgentRun run;
  rf_armed& a = arm_granted(run, RF_VERB_DELAY, 1);
  a.times = UINT64_MAX;
  EXPECT_EQ(run.run({"upper_calls_between"}), 0);
  EXPECT_EQ(run.control().armed[0].done, 7u) << "three, three upper ones, one";
}

TEST(Upper, AFailureIsThatOfTheFirstCallBelow) {
  AgentRun run;
  arm_granted(run, RF_VERB_FAIL, 3).arg[0] = 5;
  EXPECT_EQ(run.run({"upper_calls", "10"}), 5);
  const Ring ring = run.ring();
  std::vector<int32_t> results;
  for (const rf_record& r : ring.records(0))
    if (r.phase == RF_PHASE_EXIT) results.push_back(r.tag_or_result);
  ASSERT_EQ(results.size(), 20u);
  for (size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i], i == 4 ? 5 : 0) << i;
  EXPECT_EQ(ring.comm(0).failures, 1u);
}

TEST(Upper, ArgumentsOfAnUpperCallCannotBeChanged) {
  AgentRun run;
  arm_granted(run, RF_VERB_ARG).arg[0] = RF_ARG_COUNT;
  EXPECT_EQ(run.run({"upper_calls", "3"}), 0);
  EXPECT_EQ(records_of(run).at(0).effect, uint32_t{RF_EFFECT_UNABLE});
}

TEST(Upper, ACallThatCannotBeSkippedIsMadeAndTheGateSaysWhy) {
  AgentRun run;
  run.arm(RF_OP_ALL_REDUCE, RF_VERB_SKIP);
  run.answer_with([](rf_gate_slot&) { return RF_ANSWER_GO; });
  EXPECT_EQ(run.run({"upper_calls", "3", "cannot_skip"}), 0);
  run.stop_answering();
  EXPECT_EQ(records_of(run).at(0).effect, uint32_t{RF_EFFECT_UNABLE});
  EXPECT_STREQ(run.control().slots[0].why, "no work for it");
  EXPECT_EQ(run.control().armed[0].done, 0u);
}

TEST(Upper, TheFirstCallOfAGroupNamesItAlthoughItHasNoCommunicator) {
  AgentRun run;
  run.arm(RF_OP_ALL_REDUCE, RF_VERB_SKIP);
  run.answer_with([](rf_gate_slot&) { return RF_ANSWER_GO; });
  EXPECT_EQ(run.run({"upper_calls", "3"}), 101);
  run.stop_answering();
  ASSERT_EQ(run.seen().size(), 1u);
  EXPECT_EQ(run.seen()[0].is_upper, 1u);
  EXPECT_STREQ(run.seen()[0].group, "world");
  EXPECT_EQ(run.seen()[0].comm_id, 0u);
  EXPECT_EQ(run.seen()[0].seq, 1u);
  const Ring ring = run.ring();
  EXPECT_EQ(ring.name(ring.comm(0).name), "world") << "its communicator gets the name once it is made";
}

TEST(Upper, SelectsTheGroup) {
  const auto fires = [](uint32_t select, uint64_t what) {
    AgentRun run;
    rf_armed& a = arm_granted(run, RF_VERB_SKIP);
    a.comm_select = select;
    a.comm_arg0 = what;
    return run.run({"upper_calls", "3"}) == 101;
  };
  EXPECT_TRUE(fires(RF_COMM_IS_WORLD, 0));
  EXPECT_TRUE(fires(RF_COMM_SIZE, 4));
  EXPECT_FALSE(fires(RF_COMM_SIZE, 2));
  EXPECT_TRUE(fires(RF_COMM_NAMED, rf_hash_text("world")));
  EXPECT_FALSE(fires(RF_COMM_NAMED, rf_hash_text("group1")));
  EXPECT_TRUE(fires(RF_COMM_ORDINAL, 2));
  EXPECT_FALSE(fires(RF_COMM_ORDINAL, 0));
}

TEST(Upper, ActsAfterTheCallToo) {
  AgentRun run;
  rf_armed& a = arm_granted(run, RF_VERB_EXIT, 2);
  a.edge = RF_EDGE_AFTER;
  a.arg[0] = 9;
  EXPECT_EQ(run.run({"upper_calls", "5"}), 9);
  EXPECT_EQ(run.ring().count(RF_OP_ALL_REDUCE, RF_PHASE_EXIT), 4);
  EXPECT_EQ(records_of(run).at(0).seq, 4u);
}

TEST(Upper, LeavesNoRecordOfItsOwn) {
  AgentRun run;
  EXPECT_EQ(run.run({"upper_calls", "5"}), 0);
  const Ring ring = run.ring();
  EXPECT_EQ(ring.records(0).size(), 20u) << "enter and exit of the calls below";
  for (const rf_record& r : ring.records(0)) EXPECT_EQ(r.library, RF_LIB_NCCL);
  EXPECT_EQ(ring.header().opaque, 0u);
}

}  // namespace
}  // namespace rankfault::test
