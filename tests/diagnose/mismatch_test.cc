// mismatch_test: what makes two calls at one place differ, and which of two readings the finding gives.
#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

CallSpec nonblocking(CallSpec spec) {
  spec.flags |= RF_CALL_NONBLOCKING;
  return spec;
}

CallSpec rooted(uint16_t op, uint64_t count, int root) {
  CallSpec spec = broadcast(root, count);
  spec.op = op;
  return spec;
}

TEST(CallMismatch, ABlockingCallIsNoPartnerOfANonblockingOneInMpi) {
  for (const rf_library library : {RF_LIB_MPI, RF_LIB_C10D}) {
    TimelineBuilder job(3, library);
    job.enqueues(1, nonblocking(all_reduce()));
    job.does(0, all_reduce()).does(2, all_reduce());
    const Findings found = diagnose(job.build());
    const Finding* f = finding_of(found, "call_mismatch");
    ASSERT_EQ(f != nullptr, library == RF_LIB_MPI) << all_kinds(found);
    if (!f) continue;
    EXPECT_EQ(f->field, "blocking");
    EXPECT_EQ(f->ranks, std::vector<int>{1});
    EXPECT_NE(f->text.find("nonblocking all_reduce"), std::string::npos) << f->text;
  }
}

// MPI forbids this, but every library carries it out in the same way. A reduction differs.
TEST(CallMismatch, TypesThatMoveTheSameBytesAreNone) {
  struct Case {
    uint16_t op;
    rf_dtype here, there;
    uint64_t count_here, count_there;
    bool differs;
  };
  for (const Case& c : {Case{RF_OP_BROADCAST, RF_DTYPE_INT8, RF_DTYPE_BYTE, 32, 32, false},
                        Case{RF_OP_BROADCAST, RF_DTYPE_INT64, RF_DTYPE_UINT8, 8, 64, false},
                        Case{RF_OP_ALL_GATHER, RF_DTYPE_FLOAT32, RF_DTYPE_COMPLEX64, 2, 1, false},
                        Case{RF_OP_BROADCAST, RF_DTYPE_INT64, RF_DTYPE_UINT8, 8, 63, true},
                        Case{RF_OP_BROADCAST, RF_DTYPE_INT32, RF_DTYPE_FLOAT32, 8, 8, true},
                        Case{RF_OP_ALL_REDUCE, RF_DTYPE_INT32, RF_DTYPE_UINT32, 8, 8, true}}) {
    TimelineBuilder job(3, RF_LIB_MPI);
    for (const int r : {0, 1, 2}) {
      CallSpec spec = c.op == RF_OP_BROADCAST ? broadcast(0) : all_reduce();
      spec.op = c.op;
      spec.dtype = r == 1 ? c.there : c.here;
      spec.count = r == 1 ? c.count_there : c.count_here;
      job.does(r, spec);
    }
    EXPECT_EQ(finding_of(diagnose(job.build()), "call_mismatch") != nullptr, c.differs)
        << dtype_text(c.here) << " " << dtype_text(c.there);
  }
}

// MPI's convention for equal blocks: every rank, also the root, counts one block. Gloo's root counts them
// all.
TEST(CallMismatch, BlocksOfAGatherAreEqualInMpi) {
  for (const uint16_t op : {RF_OP_GATHER, RF_OP_SCATTER})
    for (const rf_library library : {RF_LIB_MPI, RF_LIB_GLOO}) {
      TimelineBuilder job(3, library);
      for (const int r : {0, 1, 2}) job.does(r, rooted(op, r == 1 ? 16 : 4, 0));
      const Findings found = diagnose(job.build());
      const Finding* f = finding_of(found, "call_mismatch");
      ASSERT_EQ(f != nullptr, library == RF_LIB_MPI) << all_kinds(found);
      EXPECT_EQ(f ? f->field : "count", "count");
    }
}

// A rank is also its own partner: its arguments alone show the mistake, even if all ranks make the same one.
TEST(CallMismatch, WhatARankSendsItselfItMustTake) {
  CallSpec unequal = rooted(RF_OP_GATHER, 4, 0);
  unequal.flags |= RF_CALL_UNEQUAL;
  for (const bool all : {false, true}) {
    TimelineBuilder job(3, RF_LIB_MPI);
    job.everyone(all_reduce());
    for (const int r : {0, 1, 2}) job.does(r, r == 0 || all ? unequal : rooted(RF_OP_GATHER, 4, 0));
    job.everyone(unequal);
    const Findings found = diagnose(job.build());
    ASSERT_EQ(all_kinds(found), "call_mismatch") << "the first is told of, not each";
    EXPECT_EQ(found.all[0].field, "receive");
    EXPECT_EQ(found.all[0].seq->to, 2u);
    EXPECT_EQ(found.all[0].confidence, Confidence::kProven);
    EXPECT_EQ(found.all[0].ranks, all ? (std::vector<int>{0, 1, 2}) : std::vector<int>{0});
  }
  TimelineBuilder equal(3, RF_LIB_MPI);
  equal.everyone(rooted(RF_OP_GATHER, 4, 0));
  EXPECT_TRUE(diagnose(equal.build()).nothing_wrong());
}

// Calls of a callback have no record: after them, a place in the record is another place in the library.
TEST(CallMismatch, PlacesOfAProcessWithCallbacksAreNotCompared) {
  for (const bool nested : {false, true}) {
    TimelineBuilder job(3, RF_LIB_MPI);
    job.everyone(all_reduce());
    for (const int r : {1, 2}) job.does(r, barrier());
    job.everyone(all_reduce(16));
    if (nested) job.rank(0).opaque = RF_OPAQUE_COMMUNICATION | RF_OPAQUE_NESTED;
    EXPECT_EQ(diagnose(job.build()).nothing_wrong(), nested);
  }
}

// Two branches at one place: neither side ever makes the call of the other.
TEST(CallMismatch, ACallThatStandsInThePlaceOfTheOthersIsChanged) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.everyone(all_reduce(4, 0x10), 2);
  for (const int r : {0, 2}) job.does(r, all_reduce(4, 0x20));
  job.does(1, all_reduce(16, 0x30)).everyone(barrier());
  const Findings found = diagnose(job.build());
  EXPECT_EQ(all_kinds(found), "call_mismatch");
  EXPECT_EQ(found.all[0].field, "count");
  EXPECT_EQ(found.all[0].ranks, std::vector<int>{1});
}

// The next call after it looks like the call before. The changed call still does not count as a missing one.
TEST(CallMismatch, AChangedCallOfWhichARankDiesIsNotLeftOut) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.everyone(all_reduce(4, 0x10), 2).does(0, all_reduce(16, 0x30)).blocked(0, all_reduce(4, 0x40));
  job.fails(1, all_reduce(4, 0x20), 15).exits(1, 15);
  EXPECT_EQ(diagnose(job.build()).all.front().kind, "call_mismatch") << all_kinds(diagnose(job.build()));
}

// The rank makes as many calls as the others, up to the end: no call was added.
TEST(CallMismatch, WithAsManyCallsAtTheEndNoneWasAdded) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.everyone(all_reduce(4, 0x10), 2);
  for (const int r : {0, 2}) job.does(r, all_reduce(4, 0x10));
  job.does(1, all_reduce(16, 0x30)).everyone(all_reduce(4, 0x10), 2);
  for (const int r : {0, 1, 2}) job.finalized(r).exits(r);
  EXPECT_EQ(all_kinds(diagnose(job.build())), "call_mismatch");
}

// The root left its broadcast before the diagnosis could see that no other rank makes one.
TEST(CallMismatch, WhereNoTwoRanksMakeTheSameCallNoneIsLeftOut) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.does(0, broadcast(0)).blocked(0, barrier()).blocked(1, barrier()).blocked(2, all_reduce());
  const Findings found = diagnose(job.build());
  ASSERT_EQ(all_kinds(found), "call_mismatch");
  EXPECT_TRUE(found.all[0].ranks.empty());
  EXPECT_EQ(found.all[0].sides.size(), 3u);
  EXPECT_EQ(found.all[0].seq->to, 1u);
}

// With two ranks, the root continues with the call of the other rank, or with a third call.
TEST(CallMismatch, ARootIsLetDownWhereItGoesOnWithTheCallOfTheOther) {
  for (const bool same : {false, true}) {
    TimelineBuilder job(2, RF_LIB_MPI);
    job.does(0, broadcast(0)).blocked(0, same ? barrier() : all_reduce()).blocked(1, barrier());
    const Findings found = diagnose(job.build());
    EXPECT_EQ(finding_of(found, "missing_call") != nullptr, same) << all_kinds(found);
    ASSERT_NE(finding_of(found, "call_mismatch"), nullptr);
    EXPECT_EQ(finding_of(found, "call_mismatch")->seq->to, 1u);
  }
}

TEST(CallMismatch, OfTwoCallsTheOtherWayRoundNoneWasAdded) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.everyone(all_reduce(4, 0x10), 2);
  for (const int r : {0, 2}) job.does(r, all_reduce(4, 0x10)).does(r, all_reduce(8, 0x20));
  job.does(1, all_reduce(8, 0x30)).does(1, all_reduce(4, 0x40));
  for (const int r : {0, 1, 2}) job.finalized(r).exits(r);
  EXPECT_EQ(all_kinds(diagnose(job.build())), "call_mismatch");
}

// Two came and one ended. The other two may still do either, so the larger side is not known.
TEST(MissingCall, BlamesNobodyWhileOthersMayStillTakeEitherSide) {
  TimelineBuilder job(5, RF_LIB_MPI);
  job.everyone(all_reduce()).blocked(1, barrier()).blocked(4, barrier()).finalized(3);
  const Findings early = diagnose(job.build());
  ASSERT_NE(finding_of(early, "missing_call"), nullptr);
  EXPECT_TRUE(finding_of(early, "missing_call")->ranks.empty());
  job.blocked(0, barrier()).blocked(2, barrier());
  const Findings found = diagnose(job.build());
  ASSERT_NE(finding_of(found, "missing_call"), nullptr);
  EXPECT_EQ(finding_of(found, "missing_call")->ranks, std::vector<int>{3});
}

// Rank 0 makes the common calls from its own branch.
TEST(MissingCall, IsFoundThoughARoleMakesTheCallsFromItsOwnPlace) {
  TimelineBuilder job(3, RF_LIB_MPI);
  const auto round = [&](std::vector<int> who) {
    for (const int r : who) job.does(r, all_reduce(4, r == 0 ? 0x10 : 0x20));
    job.everyone(all_reduce(8, 0x30));
  };
  round({0, 1, 2});
  round({0, 1, 2});
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong()) << all_kinds(diagnose(job.build()));
  for (const int r : {1, 2}) job.blocked(r, all_reduce(4, 0x20));
  job.blocked(0, all_reduce(8, 0x30));
  const Findings found = diagnose(job.build());
  EXPECT_EQ(all_kinds(found), "missing_call call_mismatch");
  EXPECT_EQ(found.all[0].ranks, std::vector<int>{0});
  EXPECT_EQ(found.all[0].seq->to, 5u);
}

CallSpec by_thread(CallSpec call, uint32_t lane) {
  call.lane = lane;
  return call;
}

// Gloo matches by operation and tag, so two threads need no common order (gloo/types.h).
TEST(GlooSlots, CallsOfTwoThreadsMeetByTheirOperation) {
  const CallSpec sums = by_thread(all_reduce(), 1), copies = by_thread(broadcast(1), 2);
  TimelineBuilder job(3);
  job.everyone(barrier());
  for (int round = 0; round < 2; ++round) {
    job.blocked(0, sums).blocked(1, copies).blocked(2, copies);
    EXPECT_TRUE(diagnose(job.build()).nothing_wrong()) << all_kinds(diagnose(job.build()));
    job.blocked(0, copies).blocked(1, sums).blocked(2, sums);
    for (int r : {0, 1, 2}) job.returns(r, 2);
    EXPECT_TRUE(diagnose(job.build()).nothing_wrong()) << all_kinds(diagnose(job.build()));
    for (int r : {0, 1, 2}) job.returns(r, 1);
  }
  job.everyone(barrier());
  for (int r : {0, 1, 2}) job.exits(r, 0);
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong()) << all_kinds(diagnose(job.build()));
}

TEST(GlooSlots, ARootThatNeedsNobodyMayBeAnyoneElsesNextCall) {
  TimelineBuilder job(3);  // each call meets calls of its operation, in another order on each rank
  const CallSpec scatter{RF_OP_SCATTER, 16, RF_DTYPE_FLOAT32, RF_REDUCE_OTHER, 0};
  const CallSpec gather{RF_OP_GATHER, 16, RF_DTYPE_FLOAT32, RF_REDUCE_OTHER, 2};
  job.does(1, gather).does(0, scatter).does(2, scatter).does(2, gather).does(0, gather).does(1, scatter);
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong()) << all_kinds(diagnose(job.build()));
  for (int r : {0, 1, 2}) job.exits(r, 0);
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong()) << all_kinds(diagnose(job.build()));
}

// Near miss: the only thread of each rank waits in a call that the others do not make.
TEST(GlooSlots, CallsThatFaceEachOtherAreTold) {
  for (const rf_library library : {RF_LIB_GLOO, RF_LIB_MPI}) {
    TimelineBuilder job(3, library);
    job.everyone(barrier()).blocked(0, all_reduce()).blocked(1, broadcast(1)).blocked(2, broadcast(1));
    const Findings found = diagnose(job.build());
    const Finding* f = finding_of(found, "call_mismatch");
    ASSERT_NE(f, nullptr) << all_kinds(found);
    EXPECT_EQ(f->confidence == Confidence::kProven, library == RF_LIB_MPI);
    EXPECT_EQ(assumption_holds(*f, "same_slot"), false);
  }
}

// One gave up, one still waits, and the only thread of the third continued, in either order of the ranks.
TEST(GlooSlots, ACallThatWasGivenUpIsToldWhoeverWaits) {
  for (const int gives_up : {0, 1}) {
    TimelineBuilder job(3);
    job.everyone(barrier());
    for (const int r : {0, 1}) job.blocked(r, all_reduce());
    job.wait(5s).returns(gives_up, 0, RF_RESULT_THROWN).does(2, broadcast(2));
    EXPECT_NE(finding_of(diagnose(job.build()), "call_mismatch"), nullptr) << gives_up;
  }
}

TEST(GlooSlots, CallsOfOneOperationThatDifferAreProven) {
  TimelineBuilder job(3);
  job.everyone(barrier()).blocked(0, all_reduce(8)).blocked(1, all_reduce()).blocked(2, all_reduce());
  const Findings found = diagnose(job.build());
  const Finding* f = finding_of(found, "call_mismatch");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->confidence, Confidence::kProven);
}

// The blocks of a reduce_scatter may differ. Their sum is the length of the vector of every rank.
TEST(Mismatch, AReduceScatterOfVectorsOfAnotherLength) {
  TimelineBuilder job(2, RF_LIB_MPI);
  for (int r : {0, 1}) {
    CallSpec spec = all_reduce(r == 0 ? 3 : 4);
    spec.op = RF_OP_REDUCE_SCATTER;
    job.blocked(r, spec);
  }
  const Findings found = diagnose(job.build());
  const Finding* f = finding_of(found, "call_mismatch");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->field, "count");
}

}  // namespace
}  // namespace rankfault::testing
