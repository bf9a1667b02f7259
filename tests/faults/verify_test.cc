// verify_test: the effect follows from the victim's record; for each kind one run with an effect and one
// without.
#include "tests/support/journal_lines.h"
#include "verify_fixture.h"

namespace rankfault {
namespace {

TEST_F(Verify, AKillIsTheVictimsEndByThatSignal) {
  run("rank_kill@rank=1,op=all_reduce,nth=3");
  end(1, ExitStatus::Kind::kSignal, SIGKILL);
  const EffectReport report = verdict();
  EXPECT_EQ(report.effect, Effect::kVerified);
  EXPECT_EQ(report.at, instant_of(110));  // peers may notice before the end is seen
}

TEST_F(Verify, AnotherEndIsNoKill) {
  run("rank_kill@rank=1,op=all_reduce,nth=3");
  end(1, ExitStatus::Kind::kSignal, SIGSEGV);
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(Verify, AnotherRanksEndIsNoKill) {
  run("rank_kill@rank=1,op=all_reduce,nth=3");
  end(2, ExitStatus::Kind::kSignal, SIGKILL);
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(Verify, AnUnknownStatusLeavesAKillUnknown) {
  run("rank_kill@rank=1,op=all_reduce,nth=3");
  end(1, ExitStatus::Kind::kUnknown, 0);
  EXPECT_EQ(effect(), Effect::kUnknown);
}

TEST_F(Verify, OneOfTwoVictimsIsNotEnough) {
  run("rank_kill@ranks=[0, 1],op=all_reduce,nth=3");
  gate.rank = 0;
  gate.process = process(0).id;
  end(0, ExitStatus::Kind::kSignal, SIGKILL);
  EXPECT_EQ(effect(), Effect::kNotFired);
}

TEST_F(Verify, ANoGoIsNotAFiring) {
  run("rank_kill@rank=1,op=all_reduce,nth=3");
  gate.answer = "no_go";
  end(1, ExitStatus::Kind::kSignal, SIGKILL);
  EXPECT_EQ(effect(), Effect::kNotFired);
}

TEST_F(Verify, AnAbandonedParkIsUnknown) {
  run("skip_call@rank=1,op=all_reduce,nth=3");
  gate.effect = "abandoned";
  EXPECT_EQ(effect(), Effect::kUnknown);
}

TEST_F(Verify, AnExitHasItsCode) {
  run("rank_exit@rank=1,op=all_reduce,code=4");
  end(1, ExitStatus::Kind::kCode, 4);
  EXPECT_EQ(effect(), Effect::kVerified);
  facts.ends[0].status.value = 3;
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(Verify, ASignalThatIsHandledMustBeDeclared) {
  run("rank_signal@rank=1,op=all_reduce,signal=TERM");
  end(1, ExitStatus::Kind::kCode, 0);
  EXPECT_EQ(effect(), Effect::kVoid);
  facts.ends[0].status.value = 3;
  EXPECT_EQ(effect(), Effect::kVerified);
}

TEST_F(Verify, AStopMustBeSeen) {
  run("rank_stop@rank=1,op=all_reduce");
  EXPECT_EQ(effect(), Effect::kUnknown);
  push_line(facts.journal, {{"n", 9},
                            {"t", 130},
                            {"ev", "fault_effect"},
                            {"fault", "rank_stop"},
                            {"action", 0},
                            {"what", "stopped"},
                            {"time", 130}});
  EXPECT_EQ(effect(), Effect::kVerified);
}

TEST_F(Verify, AKilledHelperMustBeSeenToEnd) {
  run("helper_kill@rank=1,op=all_reduce,nth=3");
  EXPECT_EQ(effect(), Effect::kUnknown);
  facts.journal.clear();
  push_line(facts.journal, {{"ev", "fault_effect"}, {"fault", "helper_kill"}, {"what", "helper_lives"}});
  EXPECT_EQ(effect(), Effect::kVoid);
  set_key(facts.journal[0], "what", "helper_ended");
  EXPECT_EQ(effect(), Effect::kVerified);
}

TEST_F(Verify, AKilledLauncherMustBeSeenToEnd) {
  run("launcher_kill@rank=1,op=all_reduce,nth=3");
  EXPECT_EQ(effect(), Effect::kUnknown);
  facts.journal.clear();
  push_line(facts.journal, {{"ev", "fault_effect"}, {"fault", "launcher_kill"}, {"what", "launcher_ended"}});
  EXPECT_EQ(effect(), Effect::kVerified);
}

TEST_F(Verify, WhereNoLauncherStartedTheVictimNothingIsKilled) {
  run("launcher_kill@rank=1,op=all_reduce,nth=3");
  gate.effect = "refused";
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(Verify, AKilledNodeTakesItsRankWithIt) {
  run("node_kill@rank=1,op=all_reduce,nth=3");
  end(1, ExitStatus::Kind::kSignal, SIGKILL);
  EXPECT_EQ(effect(), Effect::kUnknown);  // its launcher may live
  facts.journal.clear();
  push_line(facts.journal, {{"ev", "fault_effect"}, {"fault", "node_kill"}, {"what", "launcher_ended"}});
  EXPECT_EQ(effect(), Effect::kVerified);
  facts.ends[0].status = {ExitStatus::Kind::kCode, 1};
  EXPECT_EQ(effect(), Effect::kVoid);
  facts.ends.clear();
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(Verify, ASkipShiftsTheVictimsNextCallIntoItsPlace) {
  run("skip_call@rank=1,op=all_reduce,nth=3");
  calls(0, 1, 5);
  calls(1, 1, 4);
  EXPECT_EQ(effect(), Effect::kVerified);
}

TEST_F(Verify, ASkipOfTheLastCallIsSeenByThePeersThatWait) {
  run("skip_call@rank=1,op=all_reduce,nth=3");
  calls(0, 1, 3, false);
  calls(1, 1, 2);
  EXPECT_EQ(effect(), Effect::kVerified);
}

TEST_F(Verify, ASkipNobodyCameToIsVoid) {
  run("skip_call@rank=1,op=all_reduce,nth=3");
  calls(0, 1, 2);
  calls(1, 1, 2);
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(Verify, ASkippedLeafOfABroadcastIsVoid) {
  run("skip_call@rank=1,op=broadcast,nth=3");
  gate.op = "broadcast";
  calls(0, 1, 3, true, RF_OP_BROADCAST);
  calls(1, 1, 2, true, RF_OP_BROADCAST);
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(Verify, ASkippedCallOfNoElementsIsVoid) {
  run("skip_call@rank=1,op=all_reduce,nth=3");
  gate.count = 0;
  calls(0, 1, 5);
  calls(1, 1, 4);
  for (Event& event : process(0).history) event.record.count = 0;
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(Verify, ASkippedCallWhereOnlyTheVictimsShareIsEmptyBites) {
  run("skip_call@rank=1,op=all_gatherv,nth=3");
  gate.op = "all_gatherv";
  gate.count = 0;
  calls(0, 1, 5, true, RF_OP_ALL_GATHERV);
  calls(1, 1, 4, true, RF_OP_ALL_GATHERV);
  EXPECT_EQ(effect(), Effect::kVerified);
}

TEST_F(Verify, ASkippedCallOfOneRankIsVoid) {
  run("skip_call@rank=0,op=all_reduce,nth=3", 1);
  calls(0, 1, 4);
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(Verify, ASkipIsNotSeenInExecutionRecords) {
  run("skip_call@rank=1,op=all_reduce,nth=3");
  calls(0, 1, 2);
  record(0, RF_OP_ALL_REDUCE, 3, RF_PHASE_ENTER, 300).flags = RF_CALL_EXECUTION;
  calls(1, 1, 2);
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(Verify, ADelayTookItsTime) {
  run("delay_call@rank=1,op=all_reduce,by=1us");
  gate.done = gate.answered + 950ns;
  EXPECT_EQ(effect(), Effect::kVerified);
  facts.gates[0].done = gate.answered + 100ns;
  EXPECT_EQ(effect(), Effect::kVoid);
}

// A launcher ends the late rank when its peers give up.
TEST_F(Verify, ADelayThatTheVictimDoesNotOutliveLastsUntilItsEnd) {
  run("delay_call@rank=1,op=all_reduce,by=60s");
  gate.effect = "";
  gate.done = Instant();
  end(1, ExitStatus::Kind::kSignal, SIGTERM);
  facts.ends[0].time = instant_of(10'000'000'110);
  EXPECT_EQ(effect(), Effect::kUnknown);  // no peer waited
  record(0, RF_OP_ALL_REDUCE, 3, RF_PHASE_ENTER, 120);
  rf_record& gave_up = record(0, RF_OP_ALL_REDUCE, 3, RF_PHASE_ERROR, 9'000'000'000, ETIMEDOUT);
  const EffectReport report = verdict();
  EXPECT_EQ(report.effect, Effect::kVerified);
  EXPECT_EQ(report.how, "rank 1 was 10s late when it ended");
  gave_up.time_ns = 5'000'000;  // the peer failed for a reason of its own
  EXPECT_EQ(effect(), Effect::kUnknown);
  gave_up.time_ns = 9'000'000'000;
  facts.ends[0].time = instant_of(70'000'000'000);  // after the delay: the report is lost
  EXPECT_EQ(effect(), Effect::kUnknown);
}

TEST_F(Verify, AVictimThatEntersItsCallWasNotHeldUntilItsEnd) {
  run("delay_call@rank=1,op=all_reduce,by=60s");
  gate.effect = "";
  gate.done = Instant();
  record(0, RF_OP_ALL_REDUCE, 3, RF_PHASE_ENTER, 120);
  record(1, RF_OP_ALL_REDUCE, 3, RF_PHASE_ENTER, 130);
  end(1, ExitStatus::Kind::kSignal, SIGTERM);
  facts.ends[0].time = instant_of(5'000'000'110);
  EXPECT_EQ(effect(), Effect::kUnknown);
}

TEST_F(Verify, ADelayBelowWhatTheGateItselfCostsIsVoid) {
  run("delay_call@rank=1,op=all_reduce,by=1us");
  gate.asked = instant_of(100);
  gate.answered = instant_of(1'500);
  gate.done = instant_of(2'600);
  const EffectReport report = verdict();
  EXPECT_EQ(report.effect, Effect::kVoid);
  EXPECT_EQ(report.how, "a delay of 1us is shorter than the time that the gate itself costs rank 1, 1.4us");
}

TEST_F(Verify, ASlowRankIsCountedAndItsDelaysAreMeasured) {
  run("slow_rank@rank=1,by=20ms");
  push_line(facts.journal, {{"n", 4},
                            {"t", 90},
                            {"ev", "fault_done"},
                            {"fault", "slow_rank"},
                            {"action", 0},
                            {"effect", "done"},
                            {"firings", 7},
                            {"time", 90}});
  EXPECT_EQ(effect(), Effect::kUnknown) << "counted, not measured";
  set_key(facts.journal.back(), "held_least_ns", 20'100'000);
  const EffectReport report = verdict();
  EXPECT_EQ(report.effect, Effect::kVerified);
  EXPECT_EQ(report.how, "rank 1 was late 7 times, by 20.1ms or more");
  set_key(facts.journal.back(), "held_least_ns", 19'000'000);
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(Verify, ASlowRankThatIsSlowerByTheGateThanByTheDelayIsVoid) {
  run("slow_rank@rank=1,by=1ns");
  push_line(facts.journal, {{"n", 4},
                            {"ev", "fault_done"},
                            {"fault", "slow_rank"},
                            {"action", 0},
                            {"firings", 7},
                            {"held_least_ns", 61}});
  const EffectReport report = verdict();
  EXPECT_EQ(report.effect, Effect::kVoid);
  EXPECT_EQ(report.how, "a delay of 1ns is shorter than the time that the gate itself costs rank 1, 60ns");
}

TEST_F(Verify, AFailedCallIsOnRecord) {
  run("fail_call@rank=1,op=all_reduce,nth=3");
  calls(1, 1, 2);
  EXPECT_EQ(effect(), Effect::kVoid);
  record(1, RF_OP_ALL_REDUCE, 3, RF_PHASE_EXIT, 310, 16);
  EXPECT_EQ(effect(), Effect::kVerified);
}

TEST_F(Verify, AWaitThatEndedWithTheErrorAskedForIsOnRecord) {
  run("cuda_error@rank=1,op=stream_wait,nth=3,error=launch_failure");
  record(1, RF_OP_STREAM_WAIT, 3, RF_PHASE_EXIT, 310, 700);
  EXPECT_EQ(effect(), Effect::kVoid) << "another error";
  record(1, RF_OP_STREAM_WAIT, 4, RF_PHASE_EXIT, 320, 719);
  EXPECT_EQ(effect(), Effect::kVerified);
}

TEST_F(Verify, AnAllocationThatFailedIsOnRecordAndAWaitIsNone) {
  run("cuda_error@rank=1,op=device_alloc,path=nccl:*,error=out_of_memory");
  record(1, RF_OP_STREAM_WAIT, 3, RF_PHASE_EXIT, 310, 2);
  EXPECT_EQ(effect(), Effect::kVoid);
  rf_record& exit = record(1, RF_OP_DEVICE_ALLOC, 4, RF_PHASE_EXIT, 320, 2);
  exit.seq = 700;
  process(1).name_at[700] = "nccl:cudaMalloc";
  const EffectReport report = verdict();
  EXPECT_EQ(report.effect, Effect::kVerified);
  EXPECT_EQ(report.how, "allocation (nccl:cudaMalloc) of rank 1 returned CUDA error 2");
}

TEST_F(Verify, AChangedArgumentDiffersFromAPeers) {
  run("change_argument@rank=1,op=all_reduce,nth=3,field=count,to=4");
  calls(0, 1, 3);
  record(1, RF_OP_ALL_REDUCE, 3, RF_PHASE_ENTER, 300).count = 4;
  EXPECT_EQ(effect(), Effect::kVerified);
  process(1).history[0].record.count = 8;
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(Verify, UnevenBatchesAreCounted) {
  run("uneven_batches@rank=1,op=batch,nth=3");
  for (int rank : {0, 1}) facts.marks.push_back({"batch", rank, 0, instant_of(50), 1, "", 0});
  EXPECT_EQ(effect(), Effect::kVoid);
  facts.marks.push_back({"batch", 0, 0, instant_of(150), 2, "", 0});
  EXPECT_EQ(effect(), Effect::kVerified);
  facts.marks.push_back({"batch", 1, 0, instant_of(160), 2, "", 0});
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(Verify, AFlippedValueIsOnRecord) {
  run("flip_value@rank=1,value=weights,step=3,bit=1");
  EXPECT_EQ(effect(), Effect::kVoid);
  facts.marks.push_back({"value", 1, 0, instant_of(125), 3, "weights", 9});
  EXPECT_EQ(effect(), Effect::kVerified);
}

}  // namespace
}  // namespace rankfault
