// cut_test: a cut of a whole record equals a look at that instant, except for what only the state page held;
// and the falsifier can refute a claim.
#include "tests/falsify/cut.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "harness/diagnose/finding.h"
#include "tests/diagnose/simulated_job.h"
#include "tests/falsify/refute.h"

namespace rankfault::testing {
namespace {

std::vector<size_t> lengths(const Timeline& t) {
  std::vector<size_t> n;
  for (const ProcessView& p : t.processes) n.push_back(p.history.size());
  return n;
}

std::vector<std::string> proven_in(const Timeline& t) {
  std::vector<std::string> texts;
  for (const Finding& f : diagnose(t).all)
    if (f.confidence == Confidence::kProven) texts.push_back(f.kind + ": " + f.text);
  std::sort(texts.begin(), texts.end());
  return texts;
}

TEST(Cut, ProvesWhatTheLookProvedAndNothingElse) {
  size_t same = 0;
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    SimulatedJob job(seed, seed % 3 != 0);
    std::vector<Timeline> looks;
    while (job.advance()) looks.push_back(job.timeline());
    const Timeline whole = job.timeline();
    for (const Timeline& look : looks) {
      const std::vector<std::string> seen = proven_in(look), again = proven_in(cut(whole, lengths(look)));
      EXPECT_TRUE(std::includes(seen.begin(), seen.end(), again.begin(), again.end()))
          << "seed " << seed << ": " << ::testing::PrintToString(again) << " of "
          << ::testing::PrintToString(seen);
      same += !seen.empty() && seen == again;
    }
  }
  EXPECT_GT(same, 50u);
}

// A record that is left out happened after all that are kept, and one that is kept not after the instant.
TEST(Cut, OfOneInstantHasTheSamePastOnAllRanks) {
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    SimulatedJob job(seed, true);
    while (job.advance()) {
    }
    const Timeline whole = job.timeline();
    std::mt19937_64 random(seed);
    const std::vector<size_t> kept = points_of_one_instant(whole, random);
    uint64_t newest_kept = 0, oldest_left = UINT64_MAX;
    for (size_t p = 0; p < kept.size(); ++p)
      for (size_t i = 0; i < whole.processes[p].history.size(); ++i) {
        const uint64_t time = whole.processes[p].history[i].record.time_ns;
        if (i < kept[p])
          newest_kept = std::max(newest_kept, time);
        else
          oldest_left = std::min(oldest_left, time);
      }
    EXPECT_LT(newest_kept, oldest_left) << "seed " << seed;
  }
}

// The cut does not hold records that the rings lost before the look, but the sum keeps them.
TEST(Cut, KeepsTheSumOfCallsThatWereLost) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.everyone(all_reduce(), 3).everyone(barrier());
  job.loses(0, 4).loses(1, 2);
  const Timeline look = job.build();
  job.everyone(broadcast(1), 2);
  const Timeline again = cut(job.build(), lengths(look));
  for (size_t r : {0u, 1u})
    EXPECT_EQ(again.processes[r].comms[0].calls, look.processes[r].comms[0].calls) << r;
}

Finding claim(Claim kind, std::vector<ClaimedCall> calls) {
  Finding f;
  f.claim = kind;
  f.claimed = std::move(calls);
  return f;
}

TEST(Refute, ACallThatReturnedAfterAll) {
  TimelineBuilder job(2);
  job.everyone(all_reduce()).blocked(0, all_reduce()).killed(1);
  const Timeline t = job.build();
  const JobView whole(t);
  EXPECT_NE(refutation(whole, claim(Claim::kCannotReturn, {{0, 0, 1}})), "");
  EXPECT_EQ(refutation(whole, claim(Claim::kCannotReturn, {{0, 0, 2}})), "");
}

TEST(Refute, CallsThatArePairedOtherwiseAfterAll) {
  TimelineBuilder job(2);
  job.everyone(all_reduce()).does(0, barrier()).does(1, all_reduce());
  const Timeline t = job.build();
  const JobView whole(t);
  EXPECT_NE(refutation(whole, claim(Claim::kNotTheSameCall, {{0, 0, 1}, {1, 0, 1}})), "") << "the same call";
  EXPECT_NE(refutation(whole, claim(Claim::kNotTheSameCall, {{0, 0, 1}, {1, 0, 2}})), "") << "no pair";
  EXPECT_EQ(refutation(whole, claim(Claim::kNotTheSameCall, {{0, 0, 2}, {1, 0, 2}})), "");
}

// Only a simulated library knows it: in the record the refused call has a place.
TEST(Refute, APairWithACallThatTheLibraryRefused) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.everyone(all_reduce()).fails(0, broadcast(1), 8).does(1, all_reduce());
  const Timeline t = job.build();
  const JobView whole(t);
  const Finding f = claim(Claim::kNotTheSameCall, {{0, 0, 2}, {1, 0, 2}});
  EXPECT_NE(refutation(whole, f, {{{0, 0, 2}, 0}}), "");
  EXPECT_EQ(refutation(whole, f, {{{0, 0, 2}, 2}}), "");
}

// A nonblocking call ends with its process, not when it was enqueued.
TEST(Refute, ARankThatHadEnteredWhenAPendingCallWasGivenUp) {
  for (const bool in_time : {false, true}) {
    TimelineBuilder job(2, RF_LIB_MPI);
    CallSpec pending = all_reduce();
    pending.flags |= RF_CALL_NONBLOCKING;
    job.enqueues(0, pending);
    if (in_time) job.blocked(1, pending);
    job.wait(1ms).exits(0, 3);
    if (!in_time) job.blocked(1, pending);
    const Timeline t = job.build();
    Finding f = claim(Claim::kHadNotEntered, {{0, 0, 1}});
    f.ranks = {1};
    EXPECT_EQ(refutation(JobView(t), f) != "", in_time);
  }
}

TEST(Cut, ADeathBeyondTheCutHasNotHappened) {
  TimelineBuilder job(3);
  job.everyone(all_reduce(), 2).blocked(0, all_reduce()).blocked(1, all_reduce()).killed(2);
  const Timeline whole = job.build();
  std::vector<size_t> points = lengths(whole);
  EXPECT_FALSE(proven_in(cut(whole, points)).empty());
  points[2] -= 1;
  EXPECT_EQ(cut(whole, points).processes[2].end.kind, EndKind::kAlive);
  EXPECT_TRUE(proven_in(cut(whole, points)).empty());
}

}  // namespace
}  // namespace rankfault::testing
