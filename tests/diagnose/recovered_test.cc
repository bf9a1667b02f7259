// recovered_test: jobs that lose a rank and continue without it (MPI's user-level failure mitigation), and
// properties of a process that a proof must respect: its own threads, a communicator that it keeps.
#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

constexpr int kErrRevoked = 72, kErrProcFailed = 75;

CallSpec op(uint16_t number) {
  CallSpec spec = barrier();
  spec.op = number;
  return spec;
}

// Rank 2 of four died. Rank 0 knows of it, revoked the communicator and is in its repair.
TimelineBuilder revoked() {
  TimelineBuilder job(4, RF_LIB_MPI);
  job.everyone(all_reduce(), 2)
      .killed(2)
      .fails(0, all_reduce(), kErrProcFailed)
      .does(0, op(RF_OP_COMM_REVOKE));
  return job;
}

TEST(Revoked, NothingOnACommunicatorIsPairedAfterIt) {
  for (const bool failed : {true, false}) {
    TimelineBuilder job(4, RF_LIB_MPI);
    job.everyone(all_reduce(), 2);
    if (failed) job.fails(0, barrier(), kErrProcFailed);
    job.does(0, op(RF_OP_COMM_REVOKE)).blocked(0, op(RF_OP_COMM_SHRINK));
    for (const int r : {1, 2, 3}) job.blocked(r, barrier());
    EXPECT_TRUE(diagnose(job.build()).nothing_wrong()) << all_kinds(diagnose(job.build()));
    for (const int r : {1, 2, 3}) job.returns(r, 0, kErrRevoked).blocked(r, op(RF_OP_COMM_SHRINK));
    EXPECT_TRUE(diagnose(job.build()).nothing_wrong()) << all_kinds(diagnose(job.build()));
  }
}

// Near miss: without the revoke the two calls differ.
TEST(Revoked, ACommunicatorThatIsNotIsPaired) {
  TimelineBuilder job(4, RF_LIB_MPI);
  job.everyone(all_reduce(), 2).blocked(0, op(RF_OP_COMM_SHRINK));
  for (const int r : {1, 2, 3}) job.blocked(r, barrier());
  EXPECT_EQ(all_kinds(diagnose(job.build())), "call_mismatch");
}

TEST(HandledDeath, IsToldAsHandledWhenTheOthersGoOnAndEndWithZero) {
  for (const int code : {0, 1}) {
    TimelineBuilder job = revoked();
    job.comm("shrunk", {0, 1, 3});
    FindingsLog log;
    log.add(diagnose(job.build()), false);
    for (const int r : {1, 3}) job.fails(r, all_reduce(), kErrRevoked);
    for (const int r : {0, 1, 3}) job.does(r, op(RF_OP_COMM_SHRINK));
    job.everyone(on(all_reduce(), "shrunk"), 3);
    log.add(diagnose(job.build()), false);
    EXPECT_EQ(all_kinds(log.result()), "dead_rank");
    EXPECT_FALSE(log.result().only_handled()) << "not before the end";
    for (const int r : {0, 1, 3}) job.finalized(r).exits(r, r == 1 ? code : 0);
    log.add(diagnose(job.build()), true);
    EXPECT_EQ(log.result().only_handled(), code == 0) << all_kinds(log.result());
    const Findings result = log.result();
    const Finding* f = finding_of(result, "dead_rank");
    ASSERT_NE(f, nullptr);
    EXPECT_EQ(f->ranks, std::vector<int>{2});
    EXPECT_EQ(f->text.find("continued") != std::string::npos, code == 0) << f->text;
  }
}

// An agreement that no failure came before is an ordinary call. rankfault reports a difference after it.
TEST(CallMismatch, IsToldAfterAnAgreementThatNoFailureCameBefore) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.everyone(op(RF_OP_COMM_AGREE)).everyone(all_reduce());
  for (const int r : {0, 2}) job.blocked(r, all_reduce());
  job.blocked(1, barrier()).wait(5s).returns(1, 0, 7).exits(1, 1);
  const Findings found = diagnose(job.build());
  EXPECT_NE(finding_of(found, "call_mismatch"), nullptr) << all_kinds(found);
}

// The handler of a signal lets both jump out of a receive: it was a deadlock, and the program left it. The
// next call of the thread ends the receive in the record.
TEST(OrderDeadlock, ThatAllRanksLeftAndEndedWith0IsHandled) {
  for (const int code : {0, 1})
    for (const bool calls_again : {false, true}) {
      TimelineBuilder job(2, RF_LIB_MPI);
      job.everyone(barrier()).blocked(0, recv(1)).blocked(1, recv(0));
      FindingsLog log;
      log.add(diagnose(job.build()), false);
      ASSERT_EQ(all_kinds(log.result()), "order_deadlock");
      ASSERT_EQ(log.result().all[0].confidence, Confidence::kProven);
      for (const int r : {0, 1})
        if (calls_again) job.returns(r, 0, RF_RESULT_THROWN).does(r, send(1 - r));
      log.add(diagnose(job.build()), false);
      EXPECT_FALSE(log.result().only_handled()) << "not before the end";
      for (const int r : {0, 1}) job.finalized(r).exits(r, r == 1 ? code : 0);
      log.add(diagnose(job.build()), true);
      const Findings result = log.result();
      const Finding* f = finding_of(result, "order_deadlock");
      ASSERT_NE(f, nullptr) << all_kinds(result);
      EXPECT_EQ(f->confidence, Confidence::kProven);
      EXPECT_EQ(result.only_handled(), code == 0) << to_json(result).dump(1);
    }
}

// Near miss: the calls ended at their limits, and the ranks ignored the errors.
TEST(OrderDeadlock, ThatLimitsEndedIsNotHandledByAnExitWith0) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.comm("other", {0, 1}).everyone(barrier());
  job.blocked(0, all_reduce()).blocked(1, on(all_reduce(), "other"));
  FindingsLog log;
  log.add(diagnose(job.build()), false);
  ASSERT_EQ(all_kinds(log.result()), "order_deadlock");
  job.wait(5s);
  for (const int r : {0, 1}) job.returns(r, 0, 7).exits(r, 0);
  log.add(diagnose(job.build()), true);
  const Findings result = log.result();
  EXPECT_NE(finding_of(result, "order_deadlock"), nullptr);
  EXPECT_FALSE(result.only_handled()) << all_kinds(result);
}

// Near miss: the calls returned after all. The proof was wrong, and "handled" would hide that.
TEST(OrderDeadlock, WhoseCallsReturnedIsNotHandled) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.everyone(barrier()).blocked(0, recv(1)).blocked(1, recv(0));
  FindingsLog log;
  log.add(diagnose(job.build()), false);
  ASSERT_EQ(all_kinds(log.result()), "order_deadlock");
  for (const int r : {0, 1}) job.returns(r).finalized(r).exits(r, 0);
  log.add(diagnose(job.build()), true);
  EXPECT_FALSE(log.result().only_handled()) << to_json(log.result()).dump(1);
}

// A survivor that only frees or revokes its communicators did not continue.
TEST(HandledDeath, IsNotHandledByFreeingWhatIsLeft) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.everyone(barrier()).killed(1).wait(1s);
  job.does(0, op(RF_OP_COMM_REVOKE)).does(0, op(RF_OP_COMM_FREE)).finalized(0).exits(0, 0);
  const Findings found = diagnose(job.build());
  EXPECT_FALSE(found.only_handled()) << to_json(found).dump(1);
}

TEST(OrderDeadlock, OfAProcessWithAnotherThreadIsInferred) {
  for (const uint32_t threads : {0u, 3u, 4u}) {  // 0: not known, so there may be more
    TimelineBuilder job(2, RF_LIB_MPI);
    for (const int r : {0, 1}) {
      job.rank(r).threads = 3;
      job.rank(r).own_threads = {7, 8};
    }
    job.rank(1).threads = threads;
    job.everyone(barrier()).blocked(0, recv(1)).blocked(1, recv(0));
    const Findings found = diagnose(job.build());
    const Finding* f = finding_of(found, "order_deadlock");
    ASSERT_NE(f, nullptr) << all_kinds(found);
    EXPECT_EQ(f->confidence == Confidence::kProven, threads == 3);
    EXPECT_EQ(failed_assumptions(*f).size(), threads == 3 ? 0u : 1u) << to_json(*f).dump(1);
  }
}

TEST(ExtraCall, IsNotTheFreeOfACommunicatorThatOthersKeep) {
  for (const bool barrier_after : {false, true}) {
    TimelineBuilder job(3, RF_LIB_MPI);
    job.comm("copy", {0, 1, 2}).everyone(barrier()).everyone(on(barrier(), "copy"));
    job.does(0, on(op(RF_OP_COMM_FREE), "copy")).destroys(0, "copy");
    if (barrier_after) job.blocked(1, on(barrier(), "copy"));  // near miss: a call that rank 0 left out
    EXPECT_EQ(diagnose(job.build()).nothing_wrong(), !barrier_after);
    if (barrier_after) continue;
    job.everyone(barrier());
    for (const int r : {0, 1, 2}) job.finalized(r);
    EXPECT_TRUE(diagnose(job.build()).nothing_wrong()) << all_kinds(diagnose(job.build()));
    for (const int r : {0, 1, 2}) job.exits(r, 0);
    EXPECT_TRUE(diagnose(job.build()).nothing_wrong()) << all_kinds(diagnose(job.build()));
  }
}

TEST(MissingCall, IsNotTheFreeThatAnotherRankHasLeft) {
  for (const rf_library library : {RF_LIB_NCCL, RF_LIB_MPI})
    for (const bool leaves_one_out : {false, true}) {
      TimelineBuilder job(3, library);
      job.comm("copy", {0, 1, 2}).everyone(barrier()).everyone(on(all_reduce(), "copy"));
      for (const int r : {1, 2})
        if (leaves_one_out) job.does(r, on(all_reduce(), "copy"));  // near miss: rank 0 freed it too early
      job.does(0, on(op(RF_OP_COMM_FREE), "copy")).destroys(0, "copy");
      for (const int r : {1, 2}) job.blocked(r, on(op(RF_OP_COMM_FREE), "copy"));
      const Findings found = diagnose(job.wait(500ms).build());
      EXPECT_EQ(all_kinds(found), leaves_one_out ? "missing_call" : "none") << to_json(found).dump(1);
      EXPECT_EQ(found.all.front().ranks, leaves_one_out ? std::vector<int>{0} : std::vector<int>{});
    }
}

// Two of six ranks have left the free, two are in it. Those that left it came too, so the two that ended without
// it are the smaller side.
TEST(MissingCall, CountsThoseThatLeftTheFreeAsCome) {
  TimelineBuilder job(6, RF_LIB_MPI);
  job.comm("copy", {0, 1, 2, 3, 4, 5}).everyone(barrier()).everyone(on(all_reduce(), "copy"));
  for (const int r : {4, 5}) job.finalized(r).exits(r, 0);
  for (const int r : {0, 1}) job.does(r, on(op(RF_OP_COMM_FREE), "copy")).destroys(r, "copy");
  for (const int r : {2, 3}) job.blocked(r, on(op(RF_OP_COMM_FREE), "copy"));
  const Findings found = diagnose(job.wait(500ms).build());
  EXPECT_EQ(all_kinds(found), "missing_call");
  EXPECT_EQ(found.all.front().ranks, (std::vector<int>{4, 5})) << to_json(found).dump(1);
}

}  // namespace
}  // namespace rankfault::testing
