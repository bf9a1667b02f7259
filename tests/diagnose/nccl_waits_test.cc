// nccl_waits_test: findings about operations that NCCL enqueued, and about host waits for them.
#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

using ::testing::HasSubstr;

CallSpec enqueued(uint64_t count = 1024) {
  CallSpec spec = all_reduce(count);
  spec.flags |= RF_CALL_NONBLOCKING;
  return spec;
}

// Ranks with both hooks. The first calls of all ranks are seen complete.
TimelineBuilder job_of(int ranks, int calls = 2) {
  TimelineBuilder job(ranks, RF_LIB_NCCL);
  for (int r = 0; r < ranks; ++r)
    job.rank(r).coverage.push_back({RF_LIB_CUDA, RF_HOOK_PRELOAD, 0, "nccl", ""});
  for (int i = 1; i <= calls; ++i)
    for (int r = 0; r < ranks; ++r) {
      job.enqueues(r, enqueued());
      job.completes(r, job.last_origin(r), "world", static_cast<uint64_t>(i));
    }
  return job;
}

void enqueue_and_wait(TimelineBuilder& job, int rank, rf_host_wait in = RF_HOST_WAIT_STREAM) {
  job.enqueues(rank, enqueued());
  job.host_waits(rank, {job.last_origin(rank)}, in);
}

const Finding& only(const Findings& found, const std::string& kind) {
  EXPECT_EQ(all_kinds(found), kind);
  return found.all.front();
}

TEST(NcclDeadRank, KilledBeforeItsEnqueueIsProven) {
  TimelineBuilder job = job_of(3);
  enqueue_and_wait(job, 0);
  enqueue_and_wait(job, 1, RF_HOST_WAIT_EVENT);
  const Findings found = diagnose(job.killed(2).build());
  const Finding& f = only(found, "dead_rank");
  EXPECT_EQ(f.confidence, Confidence::kProven) << to_json(f).dump(1);
  EXPECT_EQ(f.claim, Claim::kCannotReturn);
  EXPECT_EQ(f.ranks, std::vector<int>{2});
  EXPECT_EQ(f.seq->from, 3u);
  EXPECT_EQ(f.seq->to, 3u);
  EXPECT_EQ(f.claimed.size(), 2u) << "the operations, which complete or do not";
  EXPECT_THAT(f.evidence[0], HasSubstr("rank 0 waits in cudaStreamSynchronize for all_reduce"));
  EXPECT_THAT(f.evidence[1], HasSubstr("rank 1 waits in cudaEventSynchronize for all_reduce"));
}

TEST(NcclDeadRank, KilledBeforeItsEnqueueIsProvenOfWhatNobodyWaitsForYet) {
  TimelineBuilder job = job_of(2);
  job.enqueues(0, enqueued()).killed(1);
  const Findings found = diagnose(job.build());
  const Finding& f = only(found, "dead_rank");
  EXPECT_EQ(f.confidence, Confidence::kProven);
  EXPECT_THAT(f.evidence[0], HasSubstr("rank 0 has enqueued all_reduce"));
}

TEST(NcclDeadRank, KilledWithOperationsInFlightIsInferredOfAllOfThem) {
  TimelineBuilder job = job_of(3);
  job.enqueues(2, enqueued()).enqueues(2, enqueued());
  for (int r : {0, 1}) {
    job.enqueues(r, enqueued());
    enqueue_and_wait(job, r);
  }
  const Findings found = diagnose(job.killed(2).build());
  const Finding& f = only(found, "dead_rank");
  EXPECT_EQ(f.confidence, Confidence::kInferred);
  EXPECT_EQ(f.claim, Claim::kNone);
  EXPECT_EQ(f.seq->from, 3u);
  EXPECT_EQ(f.seq->to, 4u) << "its device may have done the first of them";
  EXPECT_THAT(f.text, HasSubstr("with all_reduce 3 on world in flight"));
}

// The finding names the operation after those in flight: that one was certainly never enqueued.
TEST(NcclDeadRank, OfWhatIsInFlightAndWhatNeverCameTheLatterIsProven) {
  TimelineBuilder job = job_of(2);
  job.enqueues(1, enqueued()).enqueues(0, enqueued());
  enqueue_and_wait(job, 0);
  const Findings found = diagnose(job.killed(1).build());
  const Finding& f = only(found, "dead_rank");
  EXPECT_EQ(f.confidence, Confidence::kProven);
  EXPECT_EQ(f.seq->from, 4u);
  EXPECT_EQ(f.seq->to, 4u);
}

TEST(NcclDeadRank, KilledAfterCompletionLetsNobodyDown) {
  for (const bool waiter_saw_it : {true, false}) {
    TimelineBuilder job = job_of(2);
    job.enqueues(1, enqueued());
    if (!waiter_saw_it) job.completes(1, job.last_origin(1), "world", 3);
    job.enqueues(0, enqueued());
    if (waiter_saw_it) job.completes(0, job.last_origin(0), "world", 3);
    const Findings found = diagnose(job.killed(1).build());
    const Finding& f = only(found, "dead_rank");
    EXPECT_THAT(f.text, HasSubstr("rankfault saw no rank wait for it")) << waiter_saw_it;
    EXPECT_EQ(f.confidence, Confidence::kInferred);
    EXPECT_FALSE(f.seq);
  }
}

TEST(NcclDeadRank, TheRootOfABroadcastNeedsNobody) {
  TimelineBuilder job = job_of(2);
  CallSpec spec = broadcast(0);
  spec.flags |= RF_CALL_NONBLOCKING;
  job.enqueues(0, spec);
  job.host_waits(0, {job.last_origin(0)});
  const Findings found = diagnose(job.killed(1).build());
  EXPECT_EQ(only(found, "dead_rank").confidence, Confidence::kInferred);
}

TEST(NcclDeadRank, IsInferredWhereTheWaitersRuntimeIsNotSeen) {
  TimelineBuilder job = job_of(2);
  job.rank(0).coverage.back().hook = RF_HOOK_NONE;
  job.enqueues(0, enqueued()).killed(1);
  const Findings found = diagnose(job.build());
  EXPECT_EQ(failed_assumptions(only(found, "dead_rank")), std::vector<std::string>{"full_view"});
}

// NCCL refused the operation when its group ended: it has no place in the library.
TEST(NcclDeadRank, IsInferredAfterAnOperationThatWasRefused) {
  TimelineBuilder job = job_of(2);
  job.fails(0, enqueued(), 5);
  job.enqueues(0, enqueued()).killed(1);
  const Findings found = diagnose(job.build());
  EXPECT_EQ(failed_assumptions(only(found, "dead_rank")), std::vector<std::string>{"full_view"});
}

TEST(NcclWaits, ALiveRankThatDidNotEnqueueIsLateAndNothingIsProven) {
  TimelineBuilder job = job_of(3);
  for (int r : {0, 1}) enqueue_and_wait(job, r, RF_HOST_WAIT_DEVICE);
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
  const Findings found = diagnose(job.wait(1min).build());
  const Finding& f = only(found, "slow_rank");
  EXPECT_EQ(f.confidence, Confidence::kInferred);
  EXPECT_EQ(f.ranks, std::vector<int>{2});
  EXPECT_THAT(f.evidence[0], HasSubstr("rank 0 waits in cudaDeviceSynchronize for all_reduce"));
}

TEST(NcclWaits, WorkThatNobodyWaitsForHoldsNobody) {
  TimelineBuilder job = job_of(3);
  for (int r : {0, 1}) job.enqueues(r, enqueued());
  const Findings found = diagnose(job.wait(1min).build());
  EXPECT_EQ(finding_of(found, "slow_rank"), nullptr) << all_kinds(found);
  EXPECT_EQ(finding_of(found, "wedged"), nullptr);
}

TEST(NcclWaits, AllWaitForTheSameOperationAndNothingCompletes) {
  TimelineBuilder job = job_of(2);
  for (int r : {0, 1}) enqueue_and_wait(job, r);
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
  const Findings found = diagnose(job.wait(1min).build());
  const Finding& f = only(found, "wedged");
  EXPECT_EQ(f.confidence, Confidence::kInferred);
  EXPECT_THAT(f.evidence.back(), HasSubstr("earlier kernels and copies on its stream may block it"));
}

TEST(NcclWaits, AllHaveEnqueuedAndOneComputes) {
  TimelineBuilder job = job_of(2);
  enqueue_and_wait(job, 0);
  job.enqueues(1, enqueued());
  const Findings found = diagnose(job.wait(1min).build());
  EXPECT_EQ(finding_of(found, "wedged"), nullptr) << all_kinds(found);
}

CallSpec group(int tag) {
  CallSpec spec;
  spec.op = RF_OP_GROUP;
  spec.tag = tag;
  return spec;
}

// Rank 1 makes two calls in the other order. Each rank makes them between a group start and end, or alone.
Findings crossed(bool start, bool end, bool call_between) {
  TimelineBuilder job = job_of(2);
  for (int r : {0, 1}) {
    if (start) job.does(r, group(0));
    if (start && !call_between) job.does(r, group(1));
    job.enqueues(r, enqueued(r == 0 ? 8 : 4096)).enqueues(r, enqueued(r == 0 ? 4096 : 8));
    if (end) job.does(r, group(1));
  }
  return diagnose(job.build());
}

TEST(NcclMismatch, OfCallsInOneGroupNoOrderIsProven) {
  const Findings alone = crossed(true, false, false), grouped = crossed(true, true, true),
                 start_lost = crossed(false, true, false), still_open = crossed(true, false, true);
  ASSERT_NE(finding_of(alone, "call_mismatch"), nullptr) << all_kinds(alone);
  EXPECT_EQ(finding_of(alone, "call_mismatch")->confidence, Confidence::kProven);
  for (const Findings* found : {&grouped, &start_lost, &still_open})
    for (const Finding& f : found->all) EXPECT_EQ(f.confidence, Confidence::kInferred) << to_json(f).dump(1);
}

// Rank 1 reaches the next part of the program two rounds early, or gives a wrong count in a round.
TEST(NcclMismatch, OfACallThatNobodyElseHasMadeBothReadingsAreTold) {
  for (const bool known : {false, true}) {
    TimelineBuilder job = job_of(3, 4);
    if (known) job.everyone(all_reduce(4)).everyone(all_reduce());
    for (int r : {0, 1, 2}) job.enqueues(r, enqueued(r == 1 ? 4 : 1024));
    const Findings found = diagnose(job.build());
    const Finding* f = finding_of(found, "call_mismatch");
    ASSERT_NE(f, nullptr) << all_kinds(found);
    const bool both = f->evidence.back().find("rank 1 left out calls before it") != std::string::npos;
    EXPECT_EQ(both, !known) << f->evidence.back();
  }
}

// Rank 0 sees call 3 complete and continues with the next. The others call `end` on the communicator.
Findings ended_by_others(bool call_3_is_seen, uint16_t end) {
  TimelineBuilder job = job_of(3);
  for (int r : {0, 1, 2}) {
    job.enqueues(r, enqueued());
    if (r == 0 || call_3_is_seen) job.completes(r, job.last_origin(r), "world", 3);
  }
  enqueue_and_wait(job, 0);
  CallSpec spec;
  spec.op = end;
  for (int r : {1, 2}) job.does(r, spec).destroys(r);
  return diagnose(job.build());
}

// As when each call has a limit, and on a busy machine only one rank sees its end within that limit.
TEST(NcclExtraCall, WhoGivesUpOnACommunicatorInTheMiddleOfACallLeftNothingOut) {
  for (const uint16_t way : {RF_OP_COMM_REVOKE, RF_OP_COMM_ABORT}) {
    const Findings found = ended_by_others(false, way);
    EXPECT_EQ(finding_of(found, "extra_call"), nullptr) << to_json(found.all.front()).dump(1);
    EXPECT_EQ(finding_of(found, "missing_call"), nullptr);
  }
  const Findings after_it = ended_by_others(true, RF_OP_COMM_ABORT);
  EXPECT_EQ(all_kinds(after_it), "extra_call") << "they had done what they had begun";
}

// In the end all three give up and recover. A rank that still waits was let down by the ranks that ended.
TEST(NcclExitedRank, WhoGaveUpWithAllOthersAndEndedWellLetNobodyDown) {
  for (const bool rank_0_too : {true, false}) {
    TimelineBuilder job = job_of(3);
    CallSpec revoke;
    revoke.op = RF_OP_COMM_REVOKE;
    for (int r : {0, 1, 2}) job.enqueues(r, enqueued());
    job.completes(0, job.last_origin(0), "world", 3).enqueues(0, enqueued());
    for (int r : {1, 2}) job.does(r, revoke).destroys(r).exits(r, 0);
    if (rank_0_too) job.does(0, revoke).destroys(0).exits(0, 0);
    const Findings found = diagnose(job.build());
    EXPECT_EQ(finding_of(found, "exited_rank") == nullptr, rank_0_too) << all_kinds(found);
  }
}

TEST(NcclExitedRank, AProgramNeedNotLookBeforeItEnds) {
  TimelineBuilder job = job_of(2);
  for (int r : {0, 1}) job.enqueues(r, enqueued()).exits(r, 0);
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
}

TEST(NcclExitedRank, WhoLeftBeforeTheOthersEnqueuedIsProven) {
  TimelineBuilder job = job_of(2);
  job.exits(1, 0);
  enqueue_and_wait(job, 0);
  const Findings found = diagnose(job.build());
  const Finding& f = only(found, "exited_rank");
  EXPECT_EQ(f.confidence, Confidence::kProven);
  EXPECT_EQ(f.seq->from, 3u);
}

// Two communicators, which the ranks wait for in opposite orders.
TEST(NcclOrderDeadlock, ACircleOfHostWaitsIsInferred) {
  TimelineBuilder job = job_of(2);
  job.comm("experts", {0, 1});
  job.enqueues(0, enqueued()).host_waits(0, {job.last_origin(0)});
  job.enqueues(1, on(enqueued(), "experts")).host_waits(1, {job.last_origin(1)});
  const Findings found = diagnose(job.build());
  const Finding* f = finding_of(found, "order_deadlock");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->confidence, Confidence::kInferred);
}

TEST(NcclOrderDeadlock, WhoHasOnlyEnqueuedMayBeComputing) {
  TimelineBuilder job = job_of(2);
  job.comm("experts", {0, 1});
  job.enqueues(0, enqueued()).enqueues(1, on(enqueued(), "experts")).wait(1min);
  const Findings found = diagnose(job.build());
  EXPECT_EQ(finding_of(found, "order_deadlock"), nullptr) << all_kinds(found);
}

TEST(NcclOrderDeadlock, WhoHasEnqueuedBothIsMissedNowhere) {
  TimelineBuilder job = job_of(2);
  job.comm("experts", {0, 1});
  for (const int r : {0, 1}) {
    job.enqueues(r, r == 0 ? enqueued() : on(enqueued(), "experts"));
    job.enqueues(r, r == 1 ? enqueued() : on(enqueued(), "experts"));
    job.host_waits(r, {job.last_origin(r)});
  }
  EXPECT_EQ(finding_of(diagnose(job.build()), "order_deadlock"), nullptr);
}

}  // namespace
}  // namespace rankfault::testing
