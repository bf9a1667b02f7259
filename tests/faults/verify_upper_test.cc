// verify_upper_test: effects of faults at upper calls (c10d over NCCL), which have no record: the calls below
// them have.
#include "verify_fixture.h"

namespace rankfault {
namespace {

class VerifyUpper : public Verify {
 protected:
  void run_upper(const std::string& fault) {
    run(fault);
    gate.group = "world";
    for (ProcessView& each : facts.timeline.processes) {
      each.comms[0].library = RF_LIB_NCCL;
      each.comms[0].name = "world";
    }
  }
  // All records are of NCCL.
  EffectReport verdict_of_nccl() {
    for (ProcessView& each : facts.timeline.processes)
      for (Event& event : each.history) event.record.library = RF_LIB_NCCL;
    return verdict();
  }
};

TEST_F(VerifyUpper, ASkipIsSeenInTheCallsBelow) {
  run_upper("skip_call@rank=1,op=barrier,nth=3");
  gate.op = "barrier";  // NCCL has none: the calls below are sums
  calls(0, 1, 5);
  calls(1, 1, 4);
  EXPECT_EQ(verdict_of_nccl().effect, Effect::kVerified);
}

TEST_F(VerifyUpper, AGroupsFirstCallIsFoundByItsName) {
  run_upper("skip_call@rank=1,op=all_reduce");
  gate.comm_id = 0;
  gate.seq = 1;
  calls(0, 1, 5);
  calls(1, 1, 4);
  EXPECT_EQ(verdict_of_nccl().effect, Effect::kVerified);
}

TEST_F(VerifyUpper, WithoutACommunicatorOfTheGroupNothingIsKnown) {
  run_upper("skip_call@rank=1,op=all_reduce");
  gate.comm_id = 0;
  gate.seq = 1;
  process(1).comms[0].name = "group1";
  process(1).comms[0].id = 0;
  calls(0, 1, 5);
  calls(1, 1, 4);
  EXPECT_EQ(verdict_of_nccl().effect, Effect::kUnknown);
}

TEST_F(VerifyUpper, ASkippedMessageIsMissedOnAnyCommunicatorOfTheTwo) {
  run_upper("skip_call@rank=1,op=send,nth=3");
  gate.op = "send";
  gate.comm_id = 0;
  rf_record& receive = record(0, RF_OP_RECV, 1, RF_PHASE_ENTER, 300);
  receive.peer = 1;
  LaneView lane;
  lane.state.where = RF_INSIDE;
  lane.state.call = receive.call;
  process(0).lanes.push_back(lane);
  EXPECT_EQ(verdict_of_nccl().effect, Effect::kVerified);
}

// A wait for a stream names its first two operations in its state.
TEST_F(VerifyUpper, ACollectiveOfMessagesIsMissedByAWaitForOneOfThem) {
  run_upper("skip_call@rank=1,op=all_to_all,nth=3");
  gate.op = "all_to_all";
  gate.seq = 1;
  uint64_t origins[3] = {};
  for (int peer = 0; peer < 3; ++peer) {
    rf_record& sent = record(0, RF_OP_SEND, static_cast<uint64_t>(peer) + 1, RF_PHASE_ENTER, 300);
    sent.peer = peer == 1 ? 2 : peer == 2 ? 1 : 0;  // the victim's comes last
    origins[peer] = RF_ORIGIN(0, sent.call);
  }
  rf_record& wait = record(0, RF_OP_STREAM_WAIT, 0, RF_PHASE_ENTER, 310);
  LaneView lane;
  lane.state.where = RF_INSIDE;
  lane.state.call = wait.call;
  lane.state.pending[0] = origins[0];
  lane.state.pending[1] = origins[1];
  process(0).lanes.push_back(lane);
  Event more;
  more.record.call = wait.call;
  more.record.phase = RF_PHASE_DETAIL;
  more.record.where = origins[2];
  process(0).history.push_back(more);
  EXPECT_EQ(verdict_of_nccl().effect, Effect::kVerified);
  process(0).history.pop_back();
  EXPECT_EQ(verdict_of_nccl().effect, Effect::kVoid);
}

TEST_F(VerifyUpper, AFailureIsThatOfACallBelow) {
  run_upper("fail_call@rank=1,op=barrier,nth=3");
  gate.op = "barrier";
  calls(1, 1, 2);
  record(1, RF_OP_ALL_REDUCE, 3, RF_PHASE_ENTER, 300);
  record(1, RF_OP_ALL_REDUCE, 3, RF_PHASE_EXIT, 310, 3);
  EXPECT_EQ(verdict_of_nccl().effect, Effect::kVerified);
}

TEST_F(VerifyUpper, AnEarlierFailureIsNotThatOfTheCall) {
  run_upper("fail_call@rank=1,op=barrier,nth=3");
  gate.op = "barrier";
  record(1, RF_OP_ALL_REDUCE, 1, RF_PHASE_ENTER, 50);
  record(1, RF_OP_ALL_REDUCE, 1, RF_PHASE_EXIT, 60, 3);
  calls(1, 2, 5);
  EXPECT_EQ(verdict_of_nccl().effect, Effect::kVoid);
}

TEST_F(VerifyUpper, TheReasonOfTheAgentIsSaid) {
  run_upper("skip_call@rank=1,op=all_reduce,nth=3");
  gate.effect = "unable";
  gate.why = "no module";
  const EffectReport report = verdict_of_nccl();
  EXPECT_EQ(report.effect, Effect::kVoid);
  EXPECT_EQ(report.how, "the agent in rank 1 could not inject the fault at this call: no module");
}

}  // namespace
}  // namespace rankfault
