// verify_test: the effect is read from what the victim recorded; each kind bites here and misses there.
#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>

#include "fake_oracle.h"
#include "faults/fault.h"
#include "harness/run/run_facts.h"
#include "harness/scenario/one_line.h"

namespace rankfault {
namespace {

constexpr uint64_t kWorld = 77;

// A run with one fault, whose facts a test writes down.
class Verify : public testing::Test {
 protected:
  void run(const std::string& fault, int ranks = 3) {
    const Result<Scenario> scenario =
        scenario_from_command_line(ranks, "", {fault}, {"finished: {}"}, {"prog"});
    ASSERT_TRUE(scenario.ok()) << scenario.error().to_string();
    Result<Plan> plan = make_plan(*scenario, {});
    ASSERT_TRUE(plan.ok()) << plan.error().to_string();
    facts.plan = std::move(*plan);
    for (int rank = 0; rank < ranks; ++rank) add_process(rank, ranks);
    gate.rank = facts.plan.actions[0].rank;
    gate.process = facts.timeline.processes[static_cast<size_t>(gate.rank)].id;
    gate.asked = 100;
    gate.answered = 110;
    gate.done = 120;
    gate.effect = "done";
    gate.answer = "go";
    gate.comm_id = kWorld;
    gate.seq = 3;
    gate.count = 8;
    gate.op = "all_reduce";
  }
  void add_process(int rank, int ranks) {
    ProcessView process;
    process.id.pid = 1000 + rank;
    process.id.start = 5;
    process.rank = rank;
    CommView comm;
    comm.index = 0;
    comm.id = kWorld;
    comm.size = static_cast<uint32_t>(ranks);
    comm.rank = rank;
    process.comms.push_back(comm);
    facts.timeline.processes.push_back(process);
  }
  ProcessView& process(int rank) { return facts.timeline.processes[static_cast<size_t>(rank)]; }
  rf_record& record(int rank, rf_op op, uint64_t seq, rf_phase phase, uint64_t time, int result = 0) {
    Event event;
    event.record.op = static_cast<uint16_t>(op);
    event.record.seq = seq;
    event.record.phase = phase;
    event.record.time_ns = time;
    event.record.tag_or_result = result;
    event.record.count = 8;
    process(rank).history.push_back(event);
    return process(rank).history.back().record;
  }
  // Calls `from` to `to` of the world, the last one left open when it is not `done`.
  void calls(int rank, uint64_t from, uint64_t to, bool done = true, rf_op op = RF_OP_ALL_REDUCE) {
    for (uint64_t seq = from; seq <= to; ++seq) {
      record(rank, op, seq, RF_PHASE_ENTER, seq * 100);
      if (done || seq < to) record(rank, op, seq, RF_PHASE_EXIT, seq * 100 + 50);
    }
  }
  void end(int rank, ExitStatus::Kind kind, int value) {
    RankEnd rank_end;
    rank_end.process = process(rank).id;
    rank_end.rank = rank;
    rank_end.time = 500;
    rank_end.status = {kind, value};
    facts.ends.push_back(rank_end);
  }
  EffectReport verdict() {
    if (facts.gates.empty()) facts.gates.push_back(gate);
    const FaultSpec& fault = facts.plan.scenario.faults[0];
    return Catalog<FaultKind>::instance().find(fault.kind)->verify(fault, facts);
  }
  Effect effect() { return verdict().effect; }

  RunFacts facts;
  GateEvent gate;
};

TEST_F(Verify, AKillIsTheVictimsEndByThatSignal) {
  run("rank_kill@rank=1,op=all_reduce,nth=3");
  end(1, ExitStatus::Kind::kSignal, SIGKILL);
  const EffectReport report = verdict();
  EXPECT_EQ(report.effect, Effect::kVerified);
  EXPECT_EQ(report.at, 110u);  // peers may notice before the end is seen
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
  facts.journal.push_back({{"n", 9},
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
  facts.journal = {{{"ev", "fault_effect"}, {"fault", "helper_kill"}, {"what", "helper_lives"}}};
  EXPECT_EQ(effect(), Effect::kVoid);
  facts.journal[0]["what"] = "helper_ended";
  EXPECT_EQ(effect(), Effect::kVerified);
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
  gate.done = gate.answered + 950;
  EXPECT_EQ(effect(), Effect::kVerified);
  facts.gates[0].done = gate.answered + 100;
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(Verify, ASlowRankIsCounted) {
  run("slow_rank@rank=1,by=20ms");
  facts.journal.push_back({{"n", 4},
                           {"t", 90},
                           {"ev", "fault_done"},
                           {"fault", "slow_rank"},
                           {"action", 0},
                           {"effect", "done"},
                           {"firings", 7},
                           {"time", 90}});
  const EffectReport report = verdict();
  EXPECT_EQ(report.effect, Effect::kVerified);
  EXPECT_EQ(report.how, "rank 1 was 20ms late 7 times");
}

TEST_F(Verify, AFailedCallIsOnRecord) {
  run("fail_call@rank=1,op=all_reduce,nth=3");
  calls(1, 1, 2);
  EXPECT_EQ(effect(), Effect::kVoid);
  record(1, RF_OP_ALL_REDUCE, 3, RF_PHASE_EXIT, 310, 16);
  EXPECT_EQ(effect(), Effect::kVerified);
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
  for (int rank : {0, 1}) facts.marks.push_back({"batch", rank, 0, 50, 1, "", 0});
  EXPECT_EQ(effect(), Effect::kVoid);
  facts.marks.push_back({"batch", 0, 0, 150, 2, "", 0});
  EXPECT_EQ(effect(), Effect::kVerified);
  facts.marks.push_back({"batch", 1, 0, 160, 2, "", 0});
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(Verify, AnUnlinkedSegmentMustBeMissed) {
  run("shm_unlink@rank=1,file_op=shm_attach,path=/dev/shm/seg*");
  const EffectReport late = verdict();
  EXPECT_EQ(late.effect, Effect::kVoid);
  EXPECT_EQ(late.how, "no process attached to it afterwards");
  process(2).name_at[40] = "/dev/shm/seg.1";
  record(2, RF_OP_SHM_ATTACH, 40, RF_PHASE_EXIT, 300, ENOENT);
  EXPECT_EQ(effect(), Effect::kVoid) << "a probe for a name that was not there";
  facts.journal.push_back({{"n", 9},
                           {"t", 130},
                           {"ev", "fault_effect"},
                           {"fault", "shm_unlink"},
                           {"action", 0},
                           {"what", "segment_gone"},
                           {"path", "/dev/shm/seg.1"},
                           {"time", 130}});
  EXPECT_EQ(effect(), Effect::kVerified);
}

TEST_F(Verify, AnEarlierFailedAttachIsNotOurs) {
  run("shm_unlink@rank=1,file_op=shm_attach,path=/dev/shm/seg*");
  process(2).name_at[40] = "/dev/shm/seg.1";
  record(2, RF_OP_SHM_ATTACH, 40, RF_PHASE_EXIT, 50, ENOENT);
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(Verify, ACutSegmentEndsSomebodyBySigbus) {
  run("shm_truncate@rank=1,op=all_reduce,path=/dev/shm/seg*");
  EXPECT_EQ(effect(), Effect::kVoid);
  end(2, ExitStatus::Kind::kSignal, SIGBUS);
  EXPECT_EQ(effect(), Effect::kVerified);
}

// A file below the job's TMPDIR was harmed at 115.
class VerifyFile : public Verify {
 protected:
  void harmed(const std::string& path) {
    gate.op = "open";
    facts.journal.push_back({{"n", 7},
                             {"ev", "fault_effect"},
                             {"fault", facts.plan.scenario.faults[0].id},
                             {"action", 0},
                             {"what", "file_harmed"},
                             {"path", path},
                             {"time", 115}});
  }
  void opens(int rank, const std::string& path, uint64_t time, int error) {
    process(rank).name_at[40] = path;
    record(rank, RF_OP_FILE_OPEN, 40, RF_PHASE_EXIT, time, error);
  }
};

TEST_F(VerifyFile, ACutFileMustBeOpenedAfterwards) {
  run("file_truncate@rank=1,file_op=open,path=checkpoints/ckpt-*.bin,size=8");
  harmed("/tmp/rf.1/checkpoints/ckpt-20.bin");
  opens(0, "/tmp/rf.1/checkpoints/ckpt-20.bin", 50, 0);   // before the cut
  opens(2, "/tmp/rf.1/checkpoints/ckpt-10.bin", 150, 0);  // another one
  EXPECT_EQ(effect(), Effect::kVoid);
  opens(1, "/tmp/rf.1/checkpoints/ckpt-20.bin", 160, 0);
  const EffectReport report = verdict();
  EXPECT_EQ(report.effect, Effect::kVerified);
  EXPECT_EQ(report.at, 160u);
}

TEST_F(VerifyFile, AFlippedBitMustBeInWhatIsOpened) {
  run("file_flip_bit@rank=1,file_op=open,path=checkpoints/ckpt-*.bin,bit=3");
  harmed("/tmp/rf.1/checkpoints/ckpt-20.bin");
  opens(1, "/tmp/rf.1/checkpoints/ckpt-20.bin", 150, EACCES);
  EXPECT_EQ(effect(), Effect::kVoid);
  opens(1, "/tmp/rf.1/checkpoints/ckpt-20.bin", 160, 0);
  EXPECT_EQ(effect(), Effect::kVerified);
}

TEST_F(VerifyFile, ARemovedFileMustBeMissed) {
  run("file_unlink@rank=1,file_op=open,path=checkpoints/ckpt-*.bin");
  harmed("/tmp/rf.1/checkpoints/ckpt-20.bin");
  EXPECT_EQ(effect(), Effect::kVoid);
  opens(1, "/tmp/rf.1/checkpoints/ckpt-20.bin", 150, 0);  // written anew
  EXPECT_EQ(effect(), Effect::kVoid);
  opens(1, "/tmp/rf.1/checkpoints/ckpt-20.bin", 160, ENOENT);
  EXPECT_EQ(effect(), Effect::kVerified);
}

TEST_F(VerifyFile, WithoutAFileToHarmTheRunIsVoid) {
  run("file_truncate@rank=1,file_op=open,path=checkpoints/ckpt-*.bin");
  gate.effect = "refused";
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(Verify, AShortWriteIsOnRecordWithItsBytes) {
  run("short_write@rank=1,file_op=write,bytes=5");
  EXPECT_EQ(effect(), Effect::kVoid);
  record(1, RF_OP_FILE_WRITE, 40, RF_PHASE_ENTER, 50).count = 5;  // before the gate
  EXPECT_EQ(effect(), Effect::kVoid);
  record(1, RF_OP_FILE_WRITE, 40, RF_PHASE_ENTER, 125).count = 5;
  EXPECT_EQ(effect(), Effect::kVerified);
}

TEST_F(Verify, AnotherWriteOfThatSizeIsNotTheShortOne) {
  run("short_write@rank=1,file_op=write,bytes=5");
  record(1, RF_OP_FILE_WRITE, 40, RF_PHASE_ENTER, 125).count = 8;
  record(1, RF_OP_FILE_WRITE, 40, RF_PHASE_ENTER, 130).count = 5;
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(Verify, AFlippedValueIsOnRecord) {
  run("flip_value@rank=1,value=weights,step=3,bit=1");
  EXPECT_EQ(effect(), Effect::kVoid);
  facts.marks.push_back({"value", 1, 0, 125, 3, "weights", 9});
  EXPECT_EQ(effect(), Effect::kVerified);
}

}  // namespace
}  // namespace rankfault
