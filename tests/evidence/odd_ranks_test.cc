// odd_ranks_test: which ranks the stacks of a job name, and where they name none.
#include <gmock/gmock.h>

#include "harness/evidence/findings_from_stacks.h"

namespace rankfault {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RankEvidence at(int rank, const std::string& function, const std::string& line) {
  RankEvidence e;
  e.rank = rank;
  e.pid = 100 + rank;
  ThreadEvidence t;
  t.tid = e.pid;
  t.state = 'S';
  if (!function.empty()) t.frames.push_back({function, "libmpi.so.40", "libmpi.so.40+0x1"});
  t.frames.push_back({"main", "program", line});
  e.threads = {t};
  return e;
}
RankEvidence waits(int rank) { return at(rank, "MPI_Barrier", "main.c:30"); }
RankEvidence computes(int rank) { return at(rank, "", "main.c:10"); }
RankEvidence runs(int rank) {
  RankEvidence e = computes(rank);
  e.threads[0].state = 'R';
  return e;
}

Findings twice(const std::vector<RankEvidence>& look) { return odd_ranks({{look, look}, 0, Duration(1)}); }

TEST(OddRanks, NamesTheRankOutsideOfTheCallThatTheOthersAreIn) {
  const Findings found = twice({waits(0), waits(1), computes(2), waits(3)});
  ASSERT_EQ(found.all.size(), 1u);
  const Finding& f = found.all[0];
  EXPECT_EQ(f.kind, "stuck_outside");
  EXPECT_THAT(f.ranks, ElementsAre(2));
  EXPECT_EQ(f.confidence, Confidence::kInferred);
  EXPECT_EQ(f.claim, Claim::kNone);
  EXPECT_EQ(f.op, "barrier");
  EXPECT_EQ(f.call_site, "main (main.c:10)");
  EXPECT_EQ(f.sides.size(), 2u);
}

TEST(OddRanks, ARankThatUsesCpuTimeRunsAndIsNotStuck) {
  const auto looks = [](RankEvidence first, RankEvidence second) {
    return odd_ranks({{{waits(0), waits(1), first}, {waits(0), waits(1), second}}, 0, 1s});
  };
  RankEvidence then = computes(2), now = computes(2);
  then.cpu_time = 5s;
  now.cpu_time = 5010ms;
  EXPECT_EQ(looks(then, now).all[0].kind, "stuck_outside") << "its threads keep the time";
  now.cpu_time = 5400ms;
  const Findings found = looks(then, now);
  EXPECT_EQ(found.all[0].kind, "slow_rank");
  EXPECT_THAT(found.all[0].ranks, ElementsAre(2));
  EXPECT_THAT(found.all[0].text, HasSubstr("rank 2 is running outside any call"));
  now = then;
  now.threads[0].state = 'R';
  EXPECT_EQ(looks(then, now).all[0].kind, "slow_rank");
  now = then;
  now.threads[0].frames.insert(now.threads[0].frames.begin(), {"fsync", "libc.so.6", ""});
  EXPECT_EQ(looks(then, now).all[0].kind, "slow_rank") << "it slept at another place";
}

TEST(OddRanks, NamesTheRankInAnotherCall) {
  const Findings found = twice({waits(0), waits(1), at(2, "MPI_Allreduce", "main.c:20")});
  ASSERT_EQ(found.all.size(), 1u);
  EXPECT_EQ(found.all[0].kind, "call_mismatch");
  EXPECT_THAT(found.all[0].ranks, ElementsAre(2));
}

TEST(OddRanks, AStoppedRankIsCalledSo) {
  RankEvidence stopped = computes(1);
  stopped.threads[0].state = 'T';
  EXPECT_EQ(twice({waits(0), stopped, waits(2)}).all[0].kind, "stopped_rank");
  RankEvidence inside = waits(1);
  inside.threads[0].state = 'T';
  const Findings found = twice({waits(0), inside, waits(2)});
  EXPECT_EQ(found.all[0].kind, "stopped_rank");
  EXPECT_THAT(found.all[0].ranks, ElementsAre(1));
}

TEST(OddRanks, BlamesNobodyOnATie) {
  const Findings found = twice({waits(0), computes(1)});
  ASSERT_EQ(found.all.size(), 1u);
  EXPECT_EQ(found.all[0].kind, "stuck_outside");
  EXPECT_THAT(found.all[0].ranks, IsEmpty());
  EXPECT_EQ(found.all[0].sides.size(), 2u);
}

TEST(OddRanks, AllInOneCallIsNoFinding) { EXPECT_TRUE(twice({waits(0), waits(1), waits(2)}).cannot_say()); }

TEST(OddRanks, RanksThatComputeAreHealthy) {
  EXPECT_TRUE(twice({runs(0), runs(1), runs(2)}).nothing_wrong());
}

// In a lock, in a read that never returns, or in a store that the reader does not know.
TEST(OddRanks, ARankThatSleepsAtOnePlaceMayHang) {
  const Findings found = twice({runs(0), computes(1), runs(2)});
  EXPECT_TRUE(found.cannot_say());
  EXPECT_THAT(found.all[0].text, HasSubstr("rank 1 was at the same place at every look"));
}

TEST(OddRanks, OneThatWaitsForManyIsNoFindingAndNoSignOfHealth) {
  const Findings found = twice({waits(0), runs(1), runs(2), runs(3)});
  EXPECT_TRUE(found.cannot_say());
  EXPECT_THAT(found.all[0].text, HasSubstr("1 of 4 ranks wait in MPI_Barrier"));
}

TEST(OddRanks, AJobOfWhichEveryRankGoesOnIsHealthy) {
  const auto looks = [](std::vector<RankEvidence> first, std::vector<RankEvidence> second) {
    return odd_ranks({{std::move(first), std::move(second)}, 0, Duration(1)});
  };
  const RankEvidence next = at(1, "MPI_Barrier", "main.c:44");
  EXPECT_TRUE(looks({waits(0), waits(1), runs(2)}, {runs(0), next, runs(2)}).nothing_wrong());
  EXPECT_TRUE(looks({waits(0), waits(1)}, {computes(0), computes(1)}).nothing_wrong());
}

// A rank that logs, polls or makes calls of another group continues while the others wait for it without end.
TEST(OddRanks, ThatOneRankGoesOnIsNoSignOfHealth) {
  const std::vector<RankEvidence> first{waits(0), waits(1), computes(2)};
  const std::vector<RankEvidence> it_came{waits(0), waits(1), waits(2)};
  const std::vector<RankEvidence> next_call{at(0, "MPI_Barrier", "main.c:44"), waits(1), computes(2)};
  const std::vector<RankEvidence> went_on{waits(0), computes(1), computes(2)};
  for (const auto& second : {it_came, next_call, went_on}) {
    const Findings found = odd_ranks({{first, second}, 0, Duration(1)});
    EXPECT_TRUE(found.cannot_say());
    EXPECT_THAT(found.all[0].text, HasSubstr("was at the same place at every look"));
  }
}

TEST(OddRanks, ABareWaitMayBeForTheSameOperation) {
  EXPECT_TRUE(twice({waits(0), waits(1), at(2, "MPI_Wait", "main.c:9")}).cannot_say());
}

TEST(OddRanks, OneLookOrUnreadableStacksSayNothing) {
  EXPECT_TRUE(odd_ranks({{{waits(0), computes(1)}}, 0, Duration(0)}).cannot_say());
  RankEvidence blind = computes(1);
  blind.threads[0].frames.clear();
  EXPECT_TRUE(twice({waits(0), blind}).cannot_say());
  EXPECT_TRUE(twice({}).cannot_say());
  // It may or may not be in the call: it is not blamed.
  EXPECT_TRUE(twice({waits(0), waits(2), blind}).cannot_say());
}

TEST(OddRanks, SaysWhichRanksHaveNoProcess) {
  const Findings found = odd_ranks({{{waits(0), waits(2)}, {waits(0), waits(2)}}, 4, Duration(1)});
  EXPECT_TRUE(found.cannot_say());
  EXPECT_THAT(found.all[0].text, HasSubstr("ranks 1 3 have no process here"));
}

TEST(OddRanks, RenamingRanksRenamesTheFinding) {
  for (int odd = 0; odd < 4; ++odd) {
    std::vector<RankEvidence> look;
    for (int r = 0; r < 4; ++r) look.push_back(r == odd ? computes(r) : waits(r));
    EXPECT_THAT(twice(look).all[0].ranks, ElementsAre(odd));
  }
}

}  // namespace
}  // namespace rankfault
