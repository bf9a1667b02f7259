// init_stall: ranks wait in initialisation for ranks that did not join.
#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

CallSpec init() { return {RF_OP_INIT, 0, 0, 0, RF_PEER_NONE, 0x5, "world", 0, 0, 0}; }

TEST(InitStall, TellsWhyEachRankIsAbsent) {
  TimelineBuilder job(4);
  job.blocked(0, init());
  for (int r : {1, 2, 3}) job.rank(r).stage = RF_STAGE_CANDIDATE;
  job.exits(2, 1).wait(3s);
  Timeline t = job.build();
  std::erase_if(t.processes, [](const ProcessView& p) { return p.rank == 3; });
  t.expected[3].started = false;
  const Findings found = diagnose(t);
  const Finding* f = finding_of(found, "init_stall");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->ranks, (std::vector<int>{1, 2, 3}));
  EXPECT_THAT(f->text, ::testing::AllOf(::testing::HasSubstr("rank 1 has started but not reached"),
                                        ::testing::HasSubstr("rank 2 exited with 1 before it joined"),
                                        ::testing::HasSubstr("rank 3 was never started")));
}

TEST(InitStall, IsSilentWhileTheOthersMayBeLoading) {
  TimelineBuilder job(2);
  job.blocked(0, init());
  job.rank(1).stage = RF_STAGE_CANDIDATE;
  job.wait(15s);
  EXPECT_EQ(finding_of(diagnose(job.build()), "init_stall"), nullptr);
  job.wait(15s);
  EXPECT_NE(finding_of(diagnose(job.build()), "init_stall"), nullptr);
}

// Ranks 0 and 1 of 3 wait in initialisation for `waited`. Then each fails with an error, or others end it.
Timeline gave_up_joining(Duration waited, bool by_others = false) {
  TimelineBuilder job(3);
  for (int r : {0, 1}) job.blocked(r, init());
  job.wait(waited);
  for (int r : {0, 1}) by_others ? job.killed(r, 15) : job.returns(r, 0, RF_RESULT_THROWN).exits(r, 3);
  Timeline t = job.build();
  std::erase_if(t.processes, [](const ProcessView& p) { return p.rank == 2; });
  t.expected[2].started = false;
  t.job_over = true;
  return t;
}

TEST(InitStall, IsFoundAfterTheOthersGaveUp) {
  const Findings found = diagnose(gave_up_joining(3s));
  ASSERT_EQ(found.all.front().kind, "init_stall") << all_kinds(found);
  EXPECT_EQ(found.all.front().ranks, std::vector<int>{2});
  EXPECT_EQ(found.all.front().text, "ranks 0 1 gave up in initialisation: rank 2 was never started");
  ASSERT_GT(found.all.size(), 1u);
  for (size_t i = 1; i < found.all.size(); ++i) EXPECT_EQ(found.all[i].caused_by, 0) << found.all[i].text;
}

TEST(InitStall, IsSilentWhereInitialisationWasRefusedAtOnceOrEndedByOthers) {
  EXPECT_EQ(finding_of(diagnose(gave_up_joining(1ms)), "init_stall"), nullptr);
  EXPECT_EQ(finding_of(diagnose(gave_up_joining(3s, true)), "init_stall"), nullptr);
}

// Rank 0 gave up after 1 s, and rank 1 begins long after it: neither has waited for long.
TEST(InitStall, IsSilentWhereNoRankWaitedForLong) {
  TimelineBuilder job(3);
  job.rank(2).stage = RF_STAGE_CANDIDATE;
  job.blocked(0, init()).wait(1s).returns(0, 0, RF_RESULT_THROWN).exits(0, 3);
  job.wait(40s).blocked(1, init()).wait(1s);
  EXPECT_EQ(finding_of(diagnose(job.build()), "init_stall"), nullptr) << all_kinds(diagnose(job.build()));
  job.wait(30s);
  EXPECT_NE(finding_of(diagnose(job.build()), "init_stall"), nullptr);
}

// The other thread of the rank meanwhile makes a call, reads a store, or frees a communicator.
TEST(InitStall, AnOpenInitialisationCountsWhateverOtherThreadsDo) {
  CallSpec store;
  store.op = RF_OP_STORE;
  store.count = 0;
  CallSpec free = all_reduce();
  free.op = RF_OP_COMM_FREE;
  for (CallSpec other : {all_reduce(), store, free}) {
    TimelineBuilder job(2);
    other.lane = 1;
    job.blocked(0, init()).wait(100ms).does(0, other);
    job.rank(1).stage = RF_STAGE_CANDIDATE;
    job.wait(30s);
    const Findings found = diagnose(job.build());
    const Finding* f = finding_of(found, "init_stall");
    ASSERT_NE(f, nullptr) << all_kinds(found);
    EXPECT_THAT(f->text, ::testing::HasSubstr("a rank waits in initialisation")) << other.op;
  }
}

// The rank spends seconds on freeing what it had: it gave up when it began to free.
TEST(InitStall, ARankGaveUpWhenItBeganToCleanUp) {
  CallSpec free = all_reduce();
  free.op = RF_OP_COMM_FREE;
  CallSpec store;
  store.op = RF_OP_STORE;
  TimelineBuilder job(2);
  CallSpec pending = init();
  pending.flags |= RF_CALL_NONBLOCKING;
  job.enqueues(0, pending).does(0, store).wait(1s).does(0, free).wait(10s).does(0, free).exits(0, 3);
  job.rank(1).stage = RF_STAGE_CANDIDATE;
  EXPECT_EQ(finding_of(diagnose(job.build()), "init_stall"), nullptr) << all_kinds(diagnose(job.build()));
}

// Rank 2 loads its program when the others give up: after 3 s this is not a stall yet.
TEST(InitStall, IsSilentOfALateRankUntilTheOthersWaitedForLong) {
  for (const Duration waited : {3s, 30s}) {
    TimelineBuilder job(3);
    for (int r : {0, 1}) job.blocked(r, init());
    job.rank(2).stage = RF_STAGE_CANDIDATE;
    job.wait(waited);
    for (int r : {0, 1}) job.returns(r, 0, RF_RESULT_THROWN).exits(r, 3);
    job.killed(2, 15);
    const Findings found = diagnose(job.build());
    const Finding* f = finding_of(found, "init_stall");
    ASSERT_EQ(f != nullptr, waited > 20s) << all_kinds(found);
    if (!f) continue;
    EXPECT_THAT(f->text,
                ::testing::HasSubstr("had started but not reached initialisation when the others gave up"));
  }
}

}  // namespace
}  // namespace rankfault::testing
