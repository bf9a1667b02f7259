// lowering_test: which actions each kind becomes, and what it refuses, with a reason.
#include <gmock/gmock.h>
#include <signal.h>

#include <memory>

#include "fake_oracle.h"
#include "harness/plan/arming.h"
#include "harness/plan/plan.h"
#include "harness/scenario/one_line.h"

namespace rankfault {
namespace {

using testing::HasSubstr;

Result<Plan> plan(const std::string& fault, const std::string& launcher = "") {
  Result<Scenario> scenario = scenario_from_command_line(4, launcher, {fault}, {"finished: {}"}, {"prog"});
  if (!scenario) return scenario.error();
  return make_plan(*scenario, {});
}

Action first(const std::string& fault) {
  Result<Plan> made = plan(fault);
  EXPECT_TRUE(made.ok()) << made.error().to_string();
  return made.ok() ? made->actions.at(0) : Action{};
}

std::string refusal(const std::string& fault, const std::string& launcher = "") {
  Result<Plan> made = plan(fault, launcher);
  return made.ok() ? "accepted" : made.error().to_string();
}

TEST(Lowering, AStopWithADurationIsContinuedFromOutside) {
  const Result<Plan> made = plan("rank_stop@ranks=[1, 2],op=all_reduce,nth=2,for=300ms");
  ASSERT_TRUE(made.ok());
  ASSERT_EQ(made->actions.size(), 4u);
  EXPECT_EQ(made->actions[0].verb, RF_VERB_RAISE);
  EXPECT_EQ(made->actions[0].signal, SIGSTOP);
  for (size_t i : {1u, 3u}) {
    EXPECT_EQ(made->actions[i].outside, "continue");
    EXPECT_EQ(made->actions[i].after, static_cast<int>(i) - 1);
    EXPECT_EQ(made->actions[i].delay, std::chrono::milliseconds(300));
  }
}

// A later opening shows the harm: it must be recorded, although no trigger waits for it.
TEST(Lowering, AHarmedFileIsWatchedByAnActionThatMatchesNobody) {
  const Result<Plan> made =
      plan("file_truncate@rank=1,op=all_reduce,nth=3,path=checkpoints/ckpt-*.bin,size=8");
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  ASSERT_EQ(made->actions.size(), 2u);
  EXPECT_EQ(made->actions[0].outside, "truncate");
  EXPECT_EQ(made->actions[1].outside, "watch");
  EXPECT_EQ(made->actions[1].at.path, "*/checkpoints/ckpt-*.bin");
  EXPECT_EQ(made->preload, std::vector<std::string>{"libc"});
  const auto page = std::make_unique<rf_control>();
  arm(*made, 0, *page);
  EXPECT_TRUE(page->armed_ops[RF_OP_FILE_OPEN / 64] >> (RF_OP_FILE_OPEN % 64) & 1);
  EXPECT_EQ(page->armed[1].times, 0u);
  EXPECT_LT(page->armed[1].rank, 0);
  EXPECT_EQ(page->libc_points, 1u);
}

TEST(Lowering, ASlowRankIsNotAskedEachTime) {
  const Action slow = first("slow_rank@rank=2,by=20ms");
  EXPECT_EQ(slow.verb, RF_VERB_DELAY);
  EXPECT_FALSE(slow.ask);
  EXPECT_EQ(slow.times, UINT64_MAX);
  EXPECT_EQ(first("slow_rank@rank=2,by=20ms,times=5").times, 5u);
}

TEST(Lowering, ArgumentsBecomeCodes) {
  const Action action = first("change_argument@rank=1,op=all_reduce,field=dtype,to=float64");
  EXPECT_EQ(action.mode, RF_ARG_DTYPE);
  EXPECT_EQ(action.size, RF_DTYPE_FLOAT64);
  EXPECT_EQ(first("change_argument@rank=1,op=all_reduce,field=reduce_op,to=max").size, RF_REDUCE_MAX);
  EXPECT_EQ(first("fail_call@rank=1,file_op=write,path=*x,code=ENOSPC").fail_code, ENOSPC);
}

TEST(Lowering, AnErrorOfTheDriverIsItsNumberAndStays) {
  const Action once = first("cuda_error@rank=1,op=stream_wait,nth=3,error=illegal_address");
  EXPECT_EQ(once.verb, RF_VERB_FAIL);
  EXPECT_EQ(once.fail_code, 700);
  EXPECT_EQ(once.times, 1u);
  const Action stays = first("cuda_error@rank=1,op=stream_wait,nth=3,error=ecc_uncorrectable,sticky=true");
  EXPECT_EQ(stays.fail_code, 214);
  EXPECT_EQ(stays.times, UINT64_MAX);
  EXPECT_THAT(refusal("cuda_error@rank=1,op=all_reduce,error=unknown"),
              HasSubstr("write op: stream_wait, device_alloc,"));
  EXPECT_THAT(refusal("cuda_error@rank=1,op=stream_wait,edge=after,error=unknown"),
              HasSubstr("leave \"edge\" out"));
}

TEST(Lowering, AnErrorOfTheDriverMayBeThatOfAnAllocationOrALaunch) {
  const Action full = first("cuda_error@rank=1,op=device_alloc,path=nccl:*,nth=2,error=out_of_memory");
  EXPECT_EQ(full.fail_code, 2);
  EXPECT_EQ(full.at.path, "nccl:*");
  EXPECT_EQ(first("cuda_error@rank=1,op=device_launch,error=launch_failure").at.op, "device_launch");
  EXPECT_THAT(refusal("cuda_error@rank=1,op=stream_wait,path=nccl:*,error=unknown"),
              HasSubstr("\"path\" selects file operations or calls of CUDA"));
  EXPECT_THAT(refusal("skip_call@rank=1,op=device_launch"), HasSubstr("make it fail with cuda_error"));
}

TEST(Lowering, TheTriggerOfAFlippedValueIsTheValue) {
  const Action action = first("flip_value@rank=0,value=weights,step=10,bit=3");
  EXPECT_EQ(action.at.op, "value");
  EXPECT_EQ(action.at.mark, "weights");
  EXPECT_EQ(action.size, 3);
}

TEST(Lowering, SegmentFaultsAimAtTheirSegment) {
  const Action action = first("shm_unlink@rank=1,file_op=shm_attach,path=/dev/shm/vader*");
  EXPECT_EQ(action.at.path, "/dev/shm/vader*");
  EXPECT_EQ(action.path, "/dev/shm/vader*");
  EXPECT_EQ(action.outside, "unlink");
}

TEST(Lowering, ALeftoverIsLaidWhereTheNameIsFirstUsed) {
  const Action action = first("shm_stale@rank=1,file_op=shm_create,path=/dev/shm/c*,size=64,byte=7");
  EXPECT_EQ(action.outside, "leave_stale");
  EXPECT_EQ(action.at.path, "/dev/shm/c*");
  EXPECT_EQ(action.size, 64);
  EXPECT_EQ(action.mode, 7);
  EXPECT_THAT(refusal("shm_stale@rank=1,op=all_reduce,path=/dev/shm/c*"), HasSubstr("first uses the name"));
  EXPECT_THAT(refusal("shm_stale@rank=1,file_op=shm_create,edge=after,path=/dev/shm/c*"),
              HasSubstr("the job's own"));
  EXPECT_THAT(refusal("shm_stale@rank=1,file_op=shm_create,path=/dev/shm/c*,byte=256"),
              HasSubstr("0 to 255"));
}

TEST(Lowering, ASegmentIsReplacedAsItIsAttached) {
  EXPECT_EQ(first("shm_replace@rank=1,file_op=shm_attach,path=/dev/shm/n*").size, -1);
  EXPECT_THAT(refusal("shm_replace@rank=1,file_op=shm_create,path=/dev/shm/n*"),
              HasSubstr("before the victim attaches"));
  EXPECT_THAT(refusal("shm_replace@rank=1,file_op=shm_attach,path=/tmp/n*"), HasSubstr("/dev/shm/"));
}

TEST(Lowering, AHelperIsChosenByNameAndAge) {
  const Action action = first("helper_kill@rank=1,op=all_reduce,nth=3,name=pt_data*,which=2,signal=BUS");
  EXPECT_EQ(action.outside, "signal_helper");
  EXPECT_EQ(action.path, "pt_data*");
  EXPECT_EQ(action.size, 2);
  EXPECT_EQ(action.signal, SIGBUS);
  EXPECT_THAT(refusal("helper_kill@rank=1,op=all_reduce,nth=3,which=0"),
              HasSubstr("\"which\" must be at least 1"));
  EXPECT_THAT(refusal("helper_kill@rank=1,op=all_reduce,nth=3,signal=STOP"),
              HasSubstr("does not end a helper"));
}

TEST(Lowering, ANodeAndALauncherAreKilledByTheirRank) {
  EXPECT_EQ(first("node_kill@rank=1,op=all_reduce,nth=3").outside, "kill_node");
  EXPECT_EQ(first("launcher_kill@rank=1,op=all_reduce,nth=3").outside, "kill_launcher");
  EXPECT_EQ(first("launcher_kill@rank=1,op=all_reduce,nth=3").signal, SIGKILL);
}

TEST(Lowering, RefusesWhatCannotBeDoneToPyTorch) {
  for (const char* op : {"reduce_scatter", "reduce_scatter_block"}) {
    const std::string fault = std::string("skip_call@rank=1,op=") + op;
    EXPECT_THAT(refusal(fault, "torchrun"), HasSubstr("copies the input to the output"));
    EXPECT_EQ(refusal(fault, "mpirun"), "accepted");
  }
  const std::string change = "change_argument@rank=1,op=all_reduce,field=count,to=8";
  EXPECT_THAT(refusal(change, "torchrun"), HasSubstr("cannot change the arguments"));
  EXPECT_EQ(refusal(change + ",library=nccl", "torchrun"), "accepted");
  EXPECT_EQ(refusal(change, "mpirun"), "accepted");
}

TEST(Lowering, RefusesWithTheReason) {
  EXPECT_THAT(refusal("skip_call@rank=1,op=wait"), HasSubstr("wait cannot be skipped"));
  EXPECT_THAT(refusal("skip_call@rank=1,op=step_commit"), HasSubstr("not on a mark"));
  EXPECT_THAT(refusal("skip_call@rank=1,op=all_reduce,edge=after"), HasSubstr("after it was made"));
  EXPECT_THAT(refusal("skip_call@rank=1,file_op=write"), HasSubstr("write is a file operation"));
  EXPECT_THAT(refusal("rank_kill@rank=1,op=barrier,signal=STOP"), HasSubstr("does not end a rank"));
  EXPECT_THAT(refusal("rank_exit@rank=1,op=barrier,code=300"), HasSubstr("0 to 255"));
  EXPECT_THAT(refusal("rank_signal@rank=1,op=barrier,signal=KILL"), HasSubstr("rank_kill"));
  EXPECT_THAT(refusal("delay_call@rank=1,op=barrier,by=0s"), HasSubstr("\"by\" must be above 0"));
  EXPECT_THAT(refusal("fail_call@rank=1,file_op=write"), HasSubstr("needs \"code\""));
  EXPECT_THAT(refusal("fail_call@rank=1,op=barrier,code=EWHAT"), HasSubstr("neither a number nor"));
  EXPECT_THAT(refusal("change_argument@rank=1,op=barrier,field=count,to=1"), HasSubstr("no argument"));
  EXPECT_THAT(refusal("change_argument@rank=1,op=all_reduce,field=root,to=1"), HasSubstr("has no root"));
  EXPECT_THAT(refusal("change_argument@rank=1,op=broadcast,field=root,to=9"),
              HasSubstr("not a rank of this job"));
  EXPECT_THAT(refusal("change_argument@rank=1,op=all_reduce,field=dtype,to=flaot32"), HasSubstr("float32"));
  EXPECT_THAT(refusal("uneven_batches@rank=1,op=all_reduce"), HasSubstr("op: batch"));
  EXPECT_THAT(refusal("shm_unlink@rank=1,op=barrier,path=/etc/passwd"), HasSubstr("/dev/shm/"));
  EXPECT_THAT(refusal("shm_unlink@rank=1,op=barrier,path=/dev/shm/../../etc/x"), HasSubstr("/dev/shm/"));
  EXPECT_THAT(refusal("shm_truncate@rank=1,op=barrier"), HasSubstr("needs \"path\""));
  EXPECT_THAT(refusal("file_truncate@rank=1,op=barrier"), HasSubstr("needs \"path\""));
  EXPECT_THAT(refusal("file_unlink@rank=1,op=barrier,path=/etc/passwd"), HasSubstr("below the job's TMPDIR"));
  EXPECT_THAT(refusal("file_unlink@rank=1,op=barrier,path=a/../../b"), HasSubstr("below the job's TMPDIR"));
  EXPECT_THAT(refusal("file_flip_bit@rank=1,op=barrier,path=a,bit=8"), HasSubstr("\"bit\" must be 0 to 7"));
  EXPECT_THAT(refusal("short_write@rank=1,op=all_reduce,bytes=5"), HasSubstr("file_op: write"));
  EXPECT_THAT(refusal("short_write@rank=1,file_op=write,bytes=0"), HasSubstr("at least 1"));
  EXPECT_THAT(refusal("flip_value@rank=1,step=1,bit=64"), HasSubstr("\"bit\" must be 0 to 63"));
}

}  // namespace
}  // namespace rankfault
