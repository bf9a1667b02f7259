// dead_rank_test: where the rule makes a finding, and its near misses.
#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

TimelineBuilder killed_before_third(int ranks = 4, int victim = 2) {
  TimelineBuilder job(ranks);
  job.everyone(all_reduce(), 2);
  for (int r = 0; r < ranks; ++r)
    if (r != victim) job.blocked(r, all_reduce());
  job.killed(victim);
  return job;
}

TEST(DeadRank, IsProvenWhenOthersWaitForACallItNeverEntered) {
  const Findings found = diagnose(killed_before_third().build());
  const Finding* f = finding_of(found, "dead_rank");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->ranks, std::vector<int>{2});
  EXPECT_EQ(f->op, "all_reduce");
  EXPECT_EQ(f->comm, "world");
  ASSERT_TRUE(f->seq);
  EXPECT_EQ(f->seq->from, 3u);
  EXPECT_EQ(f->seq->to, 3u);
  EXPECT_EQ(f->confidence, Confidence::kProven) << to_json(*f).dump(1);
  EXPECT_EQ(f->claim, Claim::kCannotReturn);
  EXPECT_EQ(f->caused_by, -1);
}

TEST(DeadRank, IsProvenFromAnErrorThatEndedTheWait) {
  TimelineBuilder job(4);
  job.everyone(all_reduce(), 2).killed(1);
  for (int r : {0, 2, 3}) job.fails(r, all_reduce()).exits(r, 3);
  const Findings found = diagnose(job.build());
  ASSERT_EQ(found.all.front().kind, "dead_rank") << all_kinds(found);
  EXPECT_EQ(found.all.front().confidence, Confidence::kProven);
  EXPECT_EQ(found.all.front().seq->from, 3u);
  ASSERT_GT(found.all.size(), 1u);
  for (size_t i = 1; i < found.all.size(); ++i) EXPECT_EQ(found.all[i].caused_by, 0) << found.all[i].text;
}

TEST(DeadRank, ASurvivorEndedByTheLauncherHangsUnderTheFirst) {
  TimelineBuilder job = killed_before_third();
  job.wait(20ms);
  for (int r : {0, 1, 3}) job.killed(r, 15);
  const Findings found = diagnose(job.build());
  EXPECT_EQ(found.all.front().ranks, std::vector<int>{2});
  EXPECT_EQ(found.all.front().confidence, Confidence::kProven);
  ASSERT_EQ(found.all.size(), 4u);
  for (size_t i = 1; i < 4; ++i) EXPECT_EQ(found.all[i].caused_by, 0);
}

TEST(DeadRank, SurvivorsSeenToEndAtTheSameLookHangUnderTheOneTheyWaitedFor) {
  TimelineBuilder job = killed_before_third();
  for (int r : {0, 1, 3}) job.killed(r);
  for (int r : {0, 1, 3}) job.rank(r).end.time = job.rank(2).end.time;
  const Findings found = diagnose(job.build());
  EXPECT_EQ(found.all.front().ranks, std::vector<int>{2}) << found.all.front().text;
  ASSERT_GT(found.all.size(), 1u);
  for (size_t i = 1; i < found.all.size(); ++i) EXPECT_EQ(found.all[i].caused_by, 0);
}

TEST(DeadRank, IsInferredWhenItDiedInsideTheCall) {
  TimelineBuilder job(3);
  job.everyone(all_reduce(), 2)
      .blocked(0, all_reduce())
      .blocked(1, all_reduce())
      .blocked(2, all_reduce())
      .killed(2);
  const Findings found = diagnose(job.build());
  const Finding* f = finding_of(found, "dead_rank");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->confidence, Confidence::kInferred);
  EXPECT_EQ(f->seq->from, 3u);
}

TEST(DeadRank, IsInferredWhenNobodyNeedsIt) {
  TimelineBuilder job(3);
  job.everyone(all_reduce(), 2).killed(2);
  const Finding f = diagnose(job.build()).all.front();
  EXPECT_EQ(f.kind, "dead_rank");
  EXPECT_EQ(f.confidence, Confidence::kInferred);
  EXPECT_FALSE(f.seq);
}

TEST(DeadRank, IsSilentWhileEverybodyLives) {
  TimelineBuilder job(3);
  job.everyone(all_reduce(), 2).blocked(0, all_reduce()).blocked(1, all_reduce());
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
}

TEST(DeadRank, TheRootOfABroadcastDoesNotNeedADeadLeaf) {
  TimelineBuilder job(3);
  job.everyone(all_reduce()).blocked(0, broadcast(0)).does(1, broadcast(0)).killed(2);
  const Findings found = diagnose(job.build());
  const Finding* f = finding_of(found, "dead_rank");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->confidence, Confidence::kInferred);
  EXPECT_EQ(failed_assumptions(*f), std::vector<std::string>{"every_edge_is_a_need"});
}

TEST(DeadRank, IsNamedOnTheCommunicatorWhereItIsNeeded) {
  TimelineBuilder job(4);
  job.comm("pair", {1, 3}).everyone(all_reduce()).everyone(on(all_reduce(8), "pair"), 4);
  job.blocked(1, on(all_reduce(8), "pair")).killed(3, 11);
  const Findings found = diagnose(job.build());
  const Finding* f = finding_of(found, "dead_rank");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->comm, "pair");
  EXPECT_EQ(f->seq->from, 5u);
  EXPECT_EQ(f->confidence, Confidence::kProven);
}

TEST(DeadRank, AnUnknownStatusIsADeathToo) {
  TimelineBuilder job(2);
  job.everyone(all_reduce()).blocked(0, all_reduce()).vanishes(1);
  const Finding f = diagnose(job.build()).all.front();
  EXPECT_EQ(f.kind, "dead_rank");
  EXPECT_EQ(f.confidence, Confidence::kProven);
}

TEST(Quiet, CannotSayWhenARankLeftNoRecord) {
  TimelineBuilder job(3);
  job.everyone(all_reduce(), 2);
  EXPECT_EQ(diagnose(job.build()).all.front().kind, "none");
  Timeline t = job.build();
  t.processes.pop_back();
  EXPECT_EQ(diagnose(t).all.front().kind, "cannot_say");
}

// A rank that aborted in its call ends the others too. One that ended with it is not proven the cause.
TEST(DeadRank, WhoEndedTogetherWithTheOneThatWaitsIsInferred) {
  for (const Duration later : {1ms, 50ms}) {
    TimelineBuilder job(2);
    job.everyone(all_reduce()).blocked(1, all_reduce()).killed(0).killed(1);
    job.rank(1).end.time = job.rank(0).end.time + later;
    const Findings found = diagnose(job.build());
    EXPECT_EQ(found.all.at(0).ranks, std::vector<int>{0});
    EXPECT_EQ(found.all[0].confidence == Confidence::kProven, later > 5ms) << to_text(later);
  }
  TimelineBuilder outlived(2);  // the launcher ended it later, but at once
  outlived.everyone(all_reduce()).blocked(1, all_reduce()).killed(0).killed(1);
  outlived.rank(1).end.time = outlived.rank(0).end.time + 1ms;
  outlived.rank(1).end.outlived = outlived.rank(0).end.time + 100us;
  EXPECT_EQ(diagnose(outlived.build()).all.at(0).confidence, Confidence::kProven);
  outlived.rank(1).end.outlived = outlived.rank(0).end.time - 100us;  // another death, before this one
  EXPECT_EQ(diagnose(outlived.build()).all.at(0).confidence, Confidence::kInferred);
  TimelineBuilder dying(2);
  dying.everyone(all_reduce()).blocked(1, all_reduce()).killed(0);
  dying.rank(1).dying = true;
  EXPECT_EQ(failed_assumptions(diagnose(dying.build()).all.at(0)), std::vector<std::string>{"ended_first"});
  TimelineBuilder gone(2);  // it ended long before, and waits for no rank
  gone.everyone(all_reduce()).blocked(1, all_reduce()).exits(1, 15).wait(50ms).killed(0, 15);
  for (const Finding& f : diagnose(gone.build()).all)
    EXPECT_EQ(f.confidence, Confidence::kInferred) << f.text;
}

// With a refused argument or a bad buffer, the reader looks for the call in which the rank ended.
TEST(DeadRank, OfWhichNobodyWaitsEndsInTheCallItWasIn) {
  TimelineBuilder job(3);
  job.everyone(all_reduce()).blocked(1, all_reduce(16, 0x77)).killed(1, 11);
  const Findings died = diagnose(job.build());
  EXPECT_EQ(died.all.at(0).text,
            "rank 1 was ended by SIGSEGV inside all_reduce 2 on world; rankfault saw no rank wait for it");
  EXPECT_EQ(died.all[0].sides.at(0).call_site, died.all[0].call_site);
  EXPECT_NE(died.all[0].call_site, "");
  TimelineBuilder refused(3);
  refused.everyone(all_reduce()).blocked(1, all_reduce()).exits(1, 5);
  EXPECT_EQ(diagnose(refused.build()).all.at(0).text, "rank 1 exited with 5 inside all_reduce 2 on world");
  TimelineBuilder outside(3);
  outside.everyone(all_reduce()).exits(1, 5);
  EXPECT_EQ(diagnose(outside.build()).all.at(0).text, "rank 1 exited with 5");
}

TEST(Quiet, CannotSayWhileARankIsLongInsideACallNobodyExplains) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.everyone(all_reduce(), 2);
  for (int r : {0, 1}) job.blocked(r, recv(1 - r)).rank(r).history_lost = 7;
  EXPECT_EQ(diagnose(job.build()).all.front().kind, "none");
  job.wait(60s);
  EXPECT_EQ(diagnose(job.build()).all.front().kind, "cannot_say");
}

// A job may find its peers over MPI, finalize MPI, and continue with another library.
TEST(Quiet, MpiThatIsOverIsNotTheEndOfGloo) {
  TimelineBuilder job(3);
  job.everyone(all_reduce(), 2).finalized(2).blocked(0, all_reduce()).blocked(1, all_reduce());
  for (const Finding& f : diagnose(job.build()).all) EXPECT_NE(f.confidence, Confidence::kProven) << f.text;
}

}  // namespace
}  // namespace rankfault::testing
