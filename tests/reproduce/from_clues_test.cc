// from_clues: what is known, guessed and left open, from messages alone.
#include "harness/reproduce/from_clues.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankfault {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Clue gave_up(int rank, const char* op = "all_reduce", int64_t seq = 40, int64_t numel = 1000) {
  Clue c;
  c.kind = ClueKind::kCallTimedOut;
  c.file = "job.log";
  c.line = static_cast<uint64_t>(rank) + 1;
  c.rank = rank;
  c.op = op;
  c.seq = seq;
  c.numel_in = numel;
  c.limit_ms = 600000;
  c.ran_ms = 600012;
  c.text = "Watchdog caught collective operation timeout";
  return c;
}

Clue lost(int rank, const char* op = "all_reduce", int64_t seq = 40) {
  Clue c = gave_up(rank, op, seq);
  c.kind = ClueKind::kLibraryError;
  c.ran_ms = 100;
  c.text = "Connection closed by peer [127.0.0.1]:1000";
  return c;
}

Clue ended(int rank, int signal, int code = -1) {
  Clue c;
  c.kind = ClueKind::kEnded;
  c.file = "launcher.log";
  c.rank = rank;
  c.signal = signal;
  c.code = code;
  c.text = "exitcode";
  return c;
}

std::vector<Clue> all_but(int absent, int ranks) {
  std::vector<Clue> clues;
  for (int r = 0; r < ranks; ++r)
    if (r != absent) clues.push_back(gave_up(r));
  return clues;
}

TEST(FromClues, ARankThatSaysNothingWhileAllOthersWait) {
  const Case c = case_from_clues(all_but(43, 64));
  EXPECT_EQ(c.state.kind, "stuck_outside");
  EXPECT_THAT(c.state.culprits, ElementsAre(43));
  EXPECT_EQ(c.state.waiters.size(), 63u);
  EXPECT_EQ(c.limit_ms, 600000);
  EXPECT_TRUE(c.state.kind_is_guessed);
  EXPECT_THAT(c.guessed, Contains(HasSubstr("rank 43 has no message")));
}

TEST(FromClues, OneMessageAloneNamesNoRank) {
  const Case c = case_from_clues({gave_up(3)});
  EXPECT_FALSE(c.state.hangs());
  EXPECT_THAT(c.known, Contains(HasSubstr("Watchdog")));
  EXPECT_THAT(c.questions, Contains(HasSubstr("does not show which rank")));
}

TEST(FromClues, TheUserMayNameTheRank) {
  const Case c = case_from_clues({gave_up(3)}, {}, 1);
  EXPECT_THAT(c.state.culprits, ElementsAre(1));
  EXPECT_THAT(c.guessed, Contains(HasSubstr("--absent")));
}

TEST(FromClues, ManySilentRanksNameNone) {
  std::vector<Clue> clues;
  for (int r = 0; r < 8; ++r) clues.push_back(gave_up(r));
  clues[0].world_size = 64;
  EXPECT_FALSE(case_from_clues(clues).state.hangs());
}

TEST(FromClues, ARankInAnotherCallLeftThisOneOut) {
  std::vector<Clue> clues = all_but(2, 4);
  clues.push_back(gave_up(2, "barrier", 40, -1));
  const Case c = case_from_clues(clues);
  EXPECT_EQ(c.state.kind, "missing_call");
  EXPECT_THAT(c.state.culprits, ElementsAre(2));
  EXPECT_EQ(c.rank(2)->calls.back().op, "barrier");
  EXPECT_TRUE(c.rank(2)->calls.back().open);
}

TEST(FromClues, AnotherCountAtThePlaceIsAnotherCall) {
  std::vector<Clue> clues = all_but(1, 3);
  clues.push_back(gave_up(1, "all_reduce", 40, 1));
  EXPECT_THAT(case_from_clues(clues).state.culprits, ElementsAre(1));
}

TEST(FromClues, SharesThatDifferByDesignAreOneCall) {
  std::vector<Clue> clues;
  for (int r = 0; r < 3; ++r) clues.push_back(gave_up(r, "all_to_allv", 40, 100 + r));
  EXPECT_FALSE(case_from_clues(clues).state.hangs());
}

TEST(FromClues, ARootAloneBlamesThoseThatDidNotCome) {
  std::vector<Clue> clues{gave_up(0, "broadcast", 27)};
  for (int r = 1; r < 4; ++r) clues.push_back(gave_up(r, "all_gather", 27));
  const Case c = case_from_clues(clues);
  EXPECT_THAT(c.state.culprits, ElementsAre(1, 2, 3));
  EXPECT_THAT(c.state.waiters, ElementsAre(0));
  EXPECT_EQ(c.state.op, "broadcast");
}

TEST(FromClues, TwoAgainstTwoNameNone) {
  std::vector<Clue> clues{gave_up(0), gave_up(1), gave_up(2, "broadcast", 40), gave_up(3, "broadcast", 40)};
  EXPECT_FALSE(case_from_clues(clues).state.hangs());
}

TEST(FromClues, AKilledRankThatOthersWaitFor) {
  std::vector<Clue> clues = all_but(2, 4);
  clues.push_back(ended(2, 9));
  const Case c = case_from_clues(clues);
  EXPECT_EQ(c.state.kind, "dead_rank");
  EXPECT_THAT(c.state.culprits, ElementsAre(2));
  EXPECT_EQ(c.rank(2)->signal, 9);
}

TEST(FromClues, RanksThatTheWatchdogEndedAreNoCause) {
  std::vector<Clue> clues = all_but(2, 4);
  for (const int r : {0, 1, 3}) clues.push_back(ended(r, 6));
  EXPECT_THAT(case_from_clues(clues).state.culprits, ElementsAre(2));
}

TEST(FromClues, ARankThatEndsAfterTheLauncherAskedItIsNoCause) {
  std::vector<Clue> clues{gave_up(0), gave_up(1)};
  clues.push_back(ended(2, 15));
  clues.push_back(ended(3, 15));
  EXPECT_FALSE(case_from_clues(clues).state.hangs());
}

TEST(FromClues, LostConnectionsAndNoLimitMeanThatTheSilentRankEnded) {
  const Case c = case_from_clues({lost(0), lost(1), lost(3)});
  EXPECT_EQ(c.state.kind, "dead_rank");
  EXPECT_THAT(c.state.culprits, ElementsAre(2));
}

TEST(FromClues, AFileOfItsOwnMakesARankKnown) {
  const Case c = case_from_clues({lost(0), lost(1), lost(2)}, {0, 1, 2, 3});
  EXPECT_EQ(c.world_size, 4);
  EXPECT_THAT(c.state.culprits, ElementsAre(3));
}

TEST(FromClues, OnlyLossesAndNoSilentRankNameNone) {
  EXPECT_FALSE(case_from_clues({lost(0), lost(1, "broadcast", 56), lost(2, "broadcast", 56)}).state.hangs());
}

TEST(FromClues, AMessageThatDidNotFitNamesTheRankInTheSmallerCall) {
  std::vector<Clue> clues{lost(0), lost(1), lost(3)};
  Clue misfit;
  misfit.kind = ClueKind::kDiffers;
  misfit.rank = 2;
  misfit.bytes_received = 4000;
  misfit.bytes_expected = 8;
  clues.push_back(misfit);
  const Case c = case_from_clues(clues);
  EXPECT_EQ(c.state.kind, "call_mismatch");
  EXPECT_THAT(c.state.culprits, ElementsAre(2));
  EXPECT_EQ(c.rank(2)->calls.back().count, 2);
  misfit.rank = 1;
  clues.push_back(misfit);
  EXPECT_FALSE(case_from_clues(clues).state.hangs());  // two ranks: who is in another call is not shown
}

TEST(FromClues, AClockThatRanFarBeyondItsLimit) {
  std::vector<Clue> clues{gave_up(0), gave_up(1), gave_up(2)};
  clues[1].ran_ms = 5 * clues[1].limit_ms;
  const Case c = case_from_clues(clues);
  EXPECT_EQ(c.state.kind, "stopped_rank");
  EXPECT_THAT(c.state.culprits, ElementsAre(1));
}

TEST(FromClues, TwoHangsNameNone) {
  std::vector<Clue> clues = all_but(3, 8);
  for (int r = 0; r < 8; ++r)
    if (r != 5) clues.push_back(gave_up(r, "all_reduce", 200));
  const Case c = case_from_clues(clues);
  EXPECT_FALSE(c.state.hangs());
  EXPECT_THAT(c.questions, Contains(HasSubstr("more than one hang")));
}

TEST(FromClues, RanksThatAReportListsAsPresentAreNotBlamed) {
  std::vector<Clue> clues{gave_up(0), gave_up(2), gave_up(3)};
  Clue report;
  report.kind = ClueKind::kDiffers;
  report.about = {0};
  report.reason = "started";
  clues.push_back(report);
  EXPECT_THAT(case_from_clues(clues).state.culprits, ElementsAre(1));
  clues.back().reason = "did not join";
  clues.back().about = {0, 1};  // rank 0 gave up the call itself
  EXPECT_THAT(case_from_clues(clues).state.culprits, ElementsAre(1));
}

TEST(FromClues, ALocalRankIsNoRankOfAJobOfSeveralHosts) {
  std::vector<Clue> clues = all_but(5, 8);
  Clue end = ended(1, 9);
  end.rank_is_local = true;  // the second host's: rank 5
  clues.erase(clues.begin() + 1);
  clues.push_back(end);
  EXPECT_THAT(case_from_clues(clues).state.culprits, ElementsAre(1, 5));
}

TEST(FromClues, ARankWhoseOwnCountIsPastTheCallIsNotBlamed) {
  std::vector<Clue> clues = all_but(2, 4);
  Clue progress;
  progress.kind = ClueKind::kProgress;
  progress.rank = 2;
  progress.last_enqueued = 60;
  clues.push_back(progress);
  EXPECT_FALSE(case_from_clues(clues).state.hangs());
}

TEST(FromClues, TheFirstFailureOfATableComesBeforeTheOthers) {
  std::vector<Clue> clues;
  for (const int r : {0, 1, 3, 4, 5, 7}) clues.push_back(gave_up(r));
  clues.push_back(ended(2, -1, 1));
  clues.push_back(ended(6, 9));
  clues.back().reason = "first observed failure";
  const Case c = case_from_clues(clues);
  EXPECT_THAT(c.state.culprits, ElementsAre(6));
  EXPECT_EQ(c.rank(2)->state, RankState::kEnded);
}

TEST(FromClues, AFarPlaceWithoutAGroupMayBeAnotherGroup) {
  std::vector<Clue> clues;
  for (const int r : {0, 1, 2, 3, 4}) clues.push_back(gave_up(r, "all_reduce", 50));
  for (const int r : {5, 6, 7}) clues.push_back(gave_up(r, "all_gather", 7));
  EXPECT_FALSE(case_from_clues(clues).state.hangs());
}

TEST(FromClues, NothingOfCommunicationIsNoCase) {
  const Case c = case_from_clues({ended(1, 9)});
  EXPECT_FALSE(c.state.hangs());
  EXPECT_THAT(c.questions, Contains(HasSubstr("names no communication call")));
  EXPECT_THAT(case_from_clues({}).known, IsEmpty());
}

TEST(FromClues, RanksBeyondAllReasonDoNotGrowTheJob) {
  Clue c = gave_up(0);
  c.about = {1 << 21};
  c.world_size = 1 << 30;
  EXPECT_LE(case_from_clues({c}).world_size, 1 << 20);
}

}  // namespace
}  // namespace rankfault
