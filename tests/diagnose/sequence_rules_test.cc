// sequence_rules_test: missing_call, extra_call, call_mismatch: where they make findings, and near misses.
#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

std::vector<CallSpec> step_calls() {
  return {all_reduce(1000, 0x10), all_reduce(500, 0x10), all_reduce(1, 0x20)};
}

// `at_step` whole steps of three collectives, then one of which `victim` leaves out call `which`. All ranks
// then hang in the call after which the victim is one ahead.
TimelineBuilder skipped(int ranks, int victim, int at_step, size_t which, rf_library library = RF_LIB_MPI) {
  TimelineBuilder job(ranks, library);
  for (int s = 0; s < at_step; ++s)
    for (const CallSpec& c : step_calls()) job.everyone(c);
  const std::vector<CallSpec> calls = step_calls();
  for (size_t i = 0; i < which; ++i) job.everyone(calls[i]);
  for (int r = 0; r < ranks; ++r)
    job.blocked(r, r == victim ? calls[(which + 1) % calls.size()] : calls[which]);
  return job;
}

TEST(MissingCall, NamesTheSkippedCallOfALoop) {
  const Findings found = diagnose(skipped(4, 3, 10, 0).build());
  const Finding* f = finding_of(found, "missing_call");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->ranks, std::vector<int>{3});
  EXPECT_EQ(f->op, "all_reduce");
  EXPECT_EQ(f->seq->from, 31u);
  EXPECT_EQ(f->seq->to, 31u);
  const Finding* pair = finding_of(found, "call_mismatch");
  ASSERT_NE(pair, nullptr);
  EXPECT_EQ(pair->confidence, Confidence::kProven);
  EXPECT_EQ(pair->claim, Claim::kNotTheSameCall);
  EXPECT_EQ(pair->field, "count");
  EXPECT_EQ(found.all.front().kind, "missing_call");
  EXPECT_EQ(pair->caused_by, 0);
}

TEST(MissingCall, ARankThatReachedTheNextPhaseFirstLeftOneOut) {
  TimelineBuilder job(3);  // rank 2 left out one of the equal all_reduces, and is at the final barrier
  job.everyone(broadcast(0), 2).everyone(all_reduce(), 6);
  job.blocked(0, all_reduce()).blocked(1, all_reduce()).blocked(2, barrier());
  const Findings found = diagnose(job.build());
  EXPECT_EQ(all_kinds(found), "missing_call call_mismatch");
  EXPECT_EQ(found.all[0].ranks, std::vector<int>{2});
  EXPECT_EQ(found.all[0].op, "all_reduce");
  EXPECT_EQ(found.all[0].seq->from, 3u);
  EXPECT_EQ(found.all[0].seq->to, 9u);
  EXPECT_EQ(found.all[0].confidence, Confidence::kInferred);
  EXPECT_EQ(found.all[1].confidence, Confidence::kInferred) << "Gloo pairs neither with the other";
}

TEST(ExtraCall, MadeTwiceInABranchOfItsOwnIsOneTooMany) {
  TimelineBuilder job(3);  // rank 1 is in the branch `if (wrong)`, and calls there twice
  for (int step = 0; step < 2; ++step) job.everyone(broadcast(0)).everyone(all_reduce(8, 0x10));
  for (int r : {0, 2}) job.does(r, broadcast(0, 16, 0x50)).blocked(r, all_reduce(8, 0x60));
  job.does(1, broadcast(0, 16, 0x30)).blocked(1, broadcast(0, 16, 0x40));
  const Findings found = diagnose(job.build());
  EXPECT_EQ(all_kinds(found), "extra_call call_mismatch");
  EXPECT_EQ(found.all[0].ranks, std::vector<int>{1});
  EXPECT_EQ(found.all[0].confidence, Confidence::kInferred);
}

// Near miss: not in its own branch. It is one round ahead, because it left out the call that the others are
// in.
TEST(ExtraCall, TheNextRoundsCallIsNoneTooMany) {
  TimelineBuilder job(3);
  for (int step = 0; step < 2; ++step) job.everyone(broadcast(0)).everyone(all_reduce(8, 0x10));
  job.everyone(broadcast(0, 16, 0x50));
  for (int r : {0, 2}) job.blocked(r, all_reduce(8, 0x60));
  job.blocked(1, broadcast(0, 16, 0x40));
  EXPECT_EQ(all_kinds(diagnose(job.build())), "missing_call call_mismatch");
}

TEST(ExtraCall, OnAnotherCommunicatorWhileTheOthersFinalizeIsSeen) {
  TimelineBuilder job(3,
                      RF_LIB_MPI);  // its call was meant for the communicator on which its peers were served
  job.comm("right", {0, 1, 2}).comm("wrong", {0, 1, 2});
  job.everyone(on(broadcast(0), "right")).everyone(on(broadcast(0), "wrong"));
  for (int r : {0, 2}) job.does(r, on(broadcast(0), "right"));
  CallSpec finalize = barrier();
  finalize.op = RF_OP_FINALIZE;
  for (int r : {0, 2}) job.blocked(r, finalize);
  job.blocked(1, on(broadcast(0), "wrong"));
  const Findings found = diagnose(job.build());
  EXPECT_EQ(all_kinds(found), "extra_call");
  EXPECT_EQ(found.all[0].ranks, std::vector<int>{1});
  EXPECT_EQ(found.all[0].confidence, Confidence::kProven);
}

TEST(ExtraCall, AFlagReducedByOneRankOnlyIsOneTooMany) {
  TimelineBuilder job(3);  // it pairs with the others' gradients
  job.everyone(all_reduce(100, 0x10), 6).blocked(1, all_reduce(1, 0x77));
  for (int r : {0, 2}) job.blocked(r, all_reduce(100, 0x10));
  const Findings found = diagnose(job.build());
  EXPECT_EQ(all_kinds(found), "extra_call call_mismatch");
  EXPECT_EQ(found.all[0].ranks, std::vector<int>{1});
  EXPECT_EQ(found.all[1].confidence, Confidence::kProven);
}

TEST(MissingCall, AtTwoRanksBlamesNobodyAndShowsBothSides) {
  const Findings found = diagnose(skipped(2, 1, 10, 1).build());
  const Finding* f = finding_of(found, "missing_call");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_TRUE(f->ranks.empty());
  EXPECT_EQ(f->sides.size(), 2u);
}

TEST(ExtraCall, AtTwoRanksBlamesNobodyAndTellsBothReadings) {
  TimelineBuilder job(
      2, RF_LIB_NCCL);  // rank 0 leaves out the first sum of the last round, and rank 1 is behind it
  for (int i = 0; i < 3; ++i) job.everyone(all_reduce(8, 0x10)).everyone(all_reduce(1, 0x20));
  job.does(1, all_reduce(8, 0x10)).blocked(1, all_reduce(1, 0x20)).blocked(0, all_reduce(1, 0x20));
  const Findings found = diagnose(job.build());
  const Finding* f = finding_of(found, "extra_call");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_TRUE(f->ranks.empty());
  EXPECT_EQ(f->text, "either rank 0 left out all_reduce 7 on world, or rank 1 made one too many");
}

TEST(MissingCall, EqualCallsGiveAnInterval) {
  TimelineBuilder job(3, RF_LIB_MPI);  // rank 1 leaves out one of ten; nothing shows it until the end
  job.everyone(all_reduce(), 9).blocked(0, all_reduce()).blocked(2, all_reduce());
  job.blocked(1, {RF_OP_FINALIZE, 0, 0, 0, RF_PEER_NONE, 0x99, "world", 0, 0, 0});
  const Findings found = diagnose(job.build());
  ASSERT_EQ(found.all.size(), 1u) << all_kinds(found);
  const Finding& f = found.all.front();
  EXPECT_EQ(f.kind, "missing_call");
  EXPECT_EQ(f.ranks, std::vector<int>{1});
  EXPECT_EQ(f.seq->from, 1u);
  EXPECT_EQ(f.seq->to, 10u);
  EXPECT_EQ(f.seq_reason, "10 equal calls; the record cannot say which one");
  EXPECT_EQ(f.confidence, Confidence::kProven) << to_json(f).dump(1);
  EXPECT_EQ(f.claim, Claim::kCannotReturn);
}

// A failing process destroys its communicator on the way out. Nothing shows that it left out a call before
// that.
TEST(MissingCall, IsSilentWhenTheRankExitsWithAnErrorUnlessLaterCallsTell) {
  TimelineBuilder job(3);
  job.everyone(all_reduce(), 7).destroys(1);
  for (int r : {0, 2}) job.blocked(r, all_reduce());
  const Findings alive = diagnose(job.build());
  ASSERT_NE(finding_of(alive, "missing_call"), nullptr) << all_kinds(alive);
  EXPECT_EQ(finding_of(alive, "missing_call")->confidence, Confidence::kInferred) << "it may be failing";
  job.exits(1, 4);
  for (int r : {0, 2}) job.returns(r, 0, RF_RESULT_THROWN).destroys(r).exits(r, 3);
  const Findings found = diagnose(job.build());
  EXPECT_EQ(all_kinds(found), "exited_rank exited_rank exited_rank");
  EXPECT_EQ(found.all[0].ranks, std::vector<int>{1});
  EXPECT_EQ(found.all[0].seq->to, 8u);
  EXPECT_EQ(found.all[0].confidence, Confidence::kProven);
  ASSERT_GT(found.all.size(), 1u);
  for (size_t i = 1; i < found.all.size(); ++i) EXPECT_EQ(found.all[i].caused_by, 0);
}

// Rank 0 may have left the barrier out, or made one all_reduce too many: no call after it tells.
TEST(MissingCall, NamesBothReadingsWhileNothingTellsThemApart) {
  TimelineBuilder job(3);
  for (int i = 0; i < 4; ++i) job.everyone(all_reduce(8, 0x10), 2).everyone(barrier(0x20));
  job.everyone(all_reduce(8, 0x10), 2).blocked(0, all_reduce(8, 0x30));
  for (int r : {1, 2}) job.blocked(r, barrier(0x20));
  const Findings found = diagnose(job.build());
  const Finding* f = finding_of(found, "missing_call");
  if (!f) f = finding_of(found, "extra_call");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->confidence, Confidence::kInferred);
  EXPECT_THAT(f->text, ::testing::StartsWith("rank 0 made one call too few (barrier 15) or one too many "
                                             "(all_reduce 15) on world; "));
}

TEST(MissingCall, IsSilentWhenARankLeavesWithAnErrorInTheMiddleOfAStep) {
  TimelineBuilder job(3);
  for (uint64_t s = 0; s < 3; ++s) job.steps(s).everyone(all_reduce(10, 0x10)).everyone(all_reduce(20, 0x20));
  job.steps(3).everyone(all_reduce(10, 0x10)).destroys(1);
  for (int r : {0, 2}) job.blocked(r, all_reduce(20, 0x20));
  job.exits(1, 4);
  EXPECT_EQ(all_kinds(diagnose(job.build())), "exited_rank");
}

TEST(MissingCall, StepMarksMakeItExact) {
  TimelineBuilder job(3);  // rank 2 leaves out the first call of two in step 4; the others hang in the last
  for (uint64_t s = 0; s < 8; ++s) {
    job.steps(s);
    for (int i = 0; i < 2; ++i)
      for (int r : {0, 1, 2}) {
        if (r == 2 && s == 4 && i == 0) continue;
        if (r != 2 && s == 7 && i == 1)
          job.blocked(r, all_reduce());
        else
          job.does(r, all_reduce());
      }
  }
  job.destroys(2).exits(2, 0);
  const Findings found = diagnose(job.build());
  const Finding* f = finding_of(found, "missing_call");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->ranks, std::vector<int>{2});
  EXPECT_EQ(f->seq->from, 9u) << f->text;
  EXPECT_EQ(f->seq->to, 10u) << "the two calls of step 4 are equal: " << f->text;
  EXPECT_EQ(f->confidence, Confidence::kProven);
}

TEST(MissingCall, ABroadcastByItsRootAloneBlamesThoseWhoDidNotCome) {
  TimelineBuilder job(4, RF_LIB_MPI);
  job.everyone(all_reduce(), 3).does(0, broadcast(0)).blocked(0, all_reduce());
  for (int r : {1, 2, 3}) job.blocked(r, all_reduce());
  const Findings found = diagnose(job.build());
  const Finding* f = finding_of(found, "missing_call");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->ranks, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(f->op, "broadcast");
  EXPECT_EQ(f->seq->from, 4u);
  // It may also have left out the call that the others are in: only the pairing is proven.
  EXPECT_EQ(f->confidence, Confidence::kInferred);
  EXPECT_EQ(finding_of(found, "call_mismatch")->confidence, Confidence::kProven);
}

// With step marks the one call of step 5 is known, although the hang comes at the barrier after the loop.
TEST(MissingCall, IsOneCallWhenTheVictimReachedTheNextPhaseFirst) {
  TimelineBuilder job(4);
  for (uint64_t s = 0; s < 10; ++s) {
    job.steps(s);
    for (int r = 0; r < 4; ++r) {
      if (r == 3 && s == 5) continue;
      if (r != 3 && s == 9)
        job.blocked(r, all_reduce());
      else
        job.does(r, all_reduce());
    }
  }
  job.blocked(3, barrier());
  const Findings found = diagnose(job.build());
  const Finding* f = finding_of(found, "missing_call");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->text, "rank 3 left out all_reduce 6 on world");
  EXPECT_EQ(f->ranks, std::vector<int>{3});
}

// Legal between two groups: each side counts its own share, and ranks number the ranks of one side.
TEST(CallMismatch, IsSilentBetweenTwoGroups) {
  TimelineBuilder job(4, RF_LIB_MPI);
  job.comm("inter", {0, 1, 2, 3});
  for (int r = 0; r < 4; ++r) {
    job.comm_of(r, "inter").flags |= RF_COMM_INTER;
    job.blocked(r, on(all_reduce(r < 2 ? 8 : 16), "inter"));
  }
  EXPECT_EQ(diagnose(job.build()).all.front().kind, "none");
  job.wait(60s);
  EXPECT_EQ(diagnose(job.build()).all.front().kind, "cannot_say") << "it may well hang";
}

// The others came, but with another argument.
TEST(CallMismatch, ARootWhoseArgumentsDifferWasNotLeftAlone) {
  TimelineBuilder job(4, RF_LIB_MPI);
  job.everyone(all_reduce(), 3).blocked(0, broadcast(0, 16));
  for (int r : {1, 2, 3}) job.blocked(r, broadcast(0, 64));
  const Findings found = diagnose(job.build());
  EXPECT_EQ(finding_of(found, "missing_call"), nullptr) << all_kinds(found);
  ASSERT_NE(finding_of(found, "call_mismatch"), nullptr);
  EXPECT_EQ(finding_of(found, "call_mismatch")->field, "count");
}

TEST(MissingCall, SharesOfAVFormAreOneSide) {
  TimelineBuilder job(4, RF_LIB_MPI);
  job.everyone(all_reduce(), 3).blocked(3, barrier());
  for (int r : {0, 1, 2}) {
    CallSpec own{RF_OP_ALL_GATHERV, 5u + static_cast<uint64_t>(r), RF_DTYPE_FLOAT32};
    own.flags = RF_CALL_RANK_LOCAL;
    job.blocked(r, own);
  }
  const Findings found = diagnose(job.build());
  const Finding* f = finding_of(found, "call_mismatch");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->sides.size(), 2u) << f->text;
}

TEST(MissingCall, IsSilentWhileTheLateRankIsOnlyBehind) {
  TimelineBuilder job(4);
  job.everyone(all_reduce(), 5);
  for (int r : {0, 1, 3}) job.blocked(r, all_reduce());
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
}

TEST(MissingCall, IsFoundAfterAJobThatEndedWell) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.everyone(all_reduce(), 3).everyone(barrier());
  for (int r : {0, 1, 2}) job.does(r, broadcast(0));
  job.does(0, broadcast(0)).does(1, broadcast(0));
  for (int r : {0, 1, 2}) job.finalized(r).exits(r, 0);
  const Findings found = diagnose(job.build());
  const Finding* f = finding_of(found, "missing_call");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->ranks, std::vector<int>{2});
  EXPECT_EQ(f->claim, Claim::kNotTheSameCall);
}

TEST(MissingCall, NothingIsWrongWithEqualSequencesThatEndedWell) {
  TimelineBuilder job(3);
  job.everyone(all_reduce(), 3).everyone(barrier());
  for (int r : {0, 1, 2}) job.exits(r, 0);
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
}

TEST(CallMismatch, NamesTheFieldThatDiffers) {
  struct Case {
    const char* field;
    CallSpec odd;
  };
  CallSpec dtype = all_reduce(), reduce = all_reduce(), count = all_reduce(77);
  dtype.dtype = RF_DTYPE_BFLOAT16;
  reduce.reduce_op = RF_REDUCE_MAX;
  for (const Case& c :
       {Case{"dtype", dtype}, Case{"reduce_op", reduce}, Case{"count", count}, Case{"op", barrier(0x1000)}}) {
    TimelineBuilder job(4);
    job.everyone(all_reduce(), 2);
    for (int r : {0, 1, 3}) job.blocked(r, all_reduce());
    job.blocked(2, c.odd);
    const Findings found = diagnose(job.build());
    const Finding* f = finding_of(found, "call_mismatch");
    ASSERT_NE(f, nullptr) << c.field << ": " << all_kinds(found);
    EXPECT_EQ(f->field, c.field);
    EXPECT_EQ(f->ranks, std::vector<int>{2});
    EXPECT_EQ(f->seq->from, 3u);
    const bool of_one_slot = f->field != "op";  // Gloo pairs by operation and tag
    EXPECT_EQ(f->confidence == Confidence::kProven, of_one_slot) << c.field;
    EXPECT_EQ(found.all.size(), 1u) << all_kinds(found);
  }
}

TEST(CallMismatch, ATieBlamesNobody) {
  TimelineBuilder job(4);
  for (int r : {0, 1}) job.blocked(r, all_reduce(8));
  for (int r : {2, 3}) job.blocked(r, all_reduce(9));
  const Finding f = *finding_of(diagnose(job.build()), "call_mismatch");
  EXPECT_TRUE(f.ranks.empty());
  EXPECT_EQ(f.sides.size(), 2u);
}

TEST(CallMismatch, EqualTypeSignaturesAreTheSameCall) {
  TimelineBuilder job(2);
  CallSpec derived = all_reduce(4096);  // bytes of a type that has no known name
  derived.dtype = RF_DTYPE_OTHER;
  job.does(0, all_reduce(1024)).does(1, derived);
  CallSpec v = all_reduce(7);
  v.op = RF_OP_ALL_GATHERV;
  CallSpec w = v;
  w.count = 9;
  job.does(0, v).does(1, w);
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
}

TEST(CallMismatch, RootsThatDiffer) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.blocked(0, broadcast(1)).blocked(1, broadcast(2)).blocked(2, broadcast(1));
  const Finding f = *finding_of(diagnose(job.build()), "call_mismatch");
  EXPECT_EQ(f.field, "root");
  EXPECT_EQ(f.ranks, std::vector<int>{1});
}

TEST(ExtraCall, IsSeenWhenTheOthersNeverMakeIt) {
  TimelineBuilder job(4);
  job.everyone(all_reduce(100, 0x10), 6).does(1, all_reduce(1, 0x77)).blocked(1, all_reduce(100, 0x10));
  for (int r : {0, 2, 3}) job.does(r, all_reduce(100, 0x10));
  for (int r : {0, 2, 3}) job.blocked(r, all_reduce(100, 0x10));
  const Findings found = diagnose(job.build());
  const Finding* f = finding_of(found, "extra_call");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->ranks, std::vector<int>{1});
  EXPECT_EQ(f->seq->from, 7u);
  EXPECT_NE(finding_of(found, "call_mismatch"), nullptr);
}

TEST(ExtraCall, OneRankWaitsInACallNobodyElseMakes) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.everyone(all_reduce(), 2).blocked(0, barrier());
  for (int r : {1, 2}) job.finalized(r);
  const Findings found = diagnose(job.build());
  const Finding* f = finding_of(found, "extra_call");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->ranks, std::vector<int>{0});
  EXPECT_EQ(f->confidence, Confidence::kProven);
  EXPECT_EQ(finding_of(found, "missing_call"), nullptr);
}

}  // namespace
}  // namespace rankfault::testing
