// laws_test: laws that hold for every diagnosis: the rest of the run refutes no proven claim; a healthy run
// is healthy at every cut; the numbers of the ranks and idle communicators do not matter.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "tests/diagnose/finding_of.h"
#include "tests/diagnose/simulated_job.h"
#include "tests/falsify/refute.h"
#include "tests/falsify/window.h"
#include "tests/support/journal_lines.h"

namespace rankfault::testing {
namespace {

struct Claimed {
  Finding finding;
  size_t cut;
};

#ifdef __SANITIZE_ADDRESS__
constexpr uint32_t kSeeds = 1000;
#else
constexpr uint32_t kSeeds = 12000;
#endif

// `windows`: most looks show only the newest few calls of each lane, as in a job that has run for long.
void expect_none_refuted(SimulatedJob::Library library, bool windows = false,
                         SimulatedJob::Refusals refusals = SimulatedJob::Refusals::kNone) {
  std::map<std::string, int> proven;
  int cuts = 0;
  const char* more = std::getenv("RANKFAULT_FUZZ_SEEDS");
  uint32_t seeds = more ? static_cast<uint32_t>(std::strtoul(more, nullptr, 10)) : kSeeds;
  const bool refused = refusals == SimulatedJob::Refusals::kSome;
  if (windows || refused) seeds /= 2;
  for (uint32_t seed = 1; seed <= seeds; ++seed) {
    SimulatedJob job(seed, seed % 3 != 0, library, refusals);
    std::mt19937_64 random(seed * 77);
    std::vector<Claimed> claims;
    int gave_up = 0;
    const size_t end_at = seed % 2 ? random() % 120 : ~size_t{0};
    for (size_t step = 0;; ++step) {
      if (step == end_at) job.end(static_cast<int>(random() % static_cast<unsigned>(job.ranks())));
      const bool moved = job.advance();
      if (!moved || random() % 8 == 0) {
        ++cuts;
        const uint64_t window = windows ? random_window(random) : UINT64_MAX;
        for (Finding& f : diagnose(windowed(job.timeline(), window)).all)
          if (f.claim != Claim::kNone) {
            ASSERT_FALSE(f.claimed.empty());
            ++proven[f.kind];
            claims.push_back({std::move(f), step});
          }
      }
      if (!moved && gave_up == job.ranks()) break;
      if (!moved) job.end(gave_up++);  // one after the other, until no rank hangs
    }
    const Timeline end = job.timeline();
    const JobView whole(end);
    for (const Claimed& c : claims)
      ASSERT_EQ(refutation(whole, c.finding, job.places()), "") << "seed " << seed << " cut " << c.cut << "\n"
                                                                << to_json(c.finding).dump(1);
  }
  std::printf("%u runs, %d cuts", seeds, cuts);
  for (const auto& [kind, count] : proven) std::printf(", %d with a proven %s", count, kind.c_str());
  std::printf("; none was refuted\n");
  EXPECT_GT(static_cast<uint32_t>(cuts), seeds * 6);
  // A kind that is claimed too rarely was not tested.
  if (windows || refused) seeds /= 2;  // with fewer calls in view less is proven
  EXPECT_GT(static_cast<uint32_t>(proven["dead_rank"]), seeds / 6);
  EXPECT_GT(static_cast<uint32_t>(proven["exited_rank"]), seeds / 12);
  EXPECT_GT(static_cast<uint32_t>(proven["order_deadlock"]), seeds / 8);
  EXPECT_GT(static_cast<uint32_t>(proven["call_mismatch"]), seeds / 8);
  EXPECT_GT(static_cast<uint32_t>(proven["missing_call"]), seeds / 400);
  EXPECT_GT(static_cast<uint32_t>(proven["late_rank"]), seeds / 100);
}

TEST(Laws, NoProvenClaimIsRefutedByTheRestOfTheRun) { expect_none_refuted(SimulatedJob::Library::kByPlace); }
// A later call of another rank meets the call that one rank left out and for which no rank waited.
TEST(Laws, NoProvenClaimIsRefutedWhereCallsArePairedByTheirMessages) {
  expect_none_refuted(SimulatedJob::Library::kOfMessages);
}

TEST(Laws, NoProvenClaimIsRefutedWhereOldCallsAreGone) {
  expect_none_refuted(SimulatedJob::Library::kByPlace, true);
  expect_none_refuted(SimulatedJob::Library::kOfMessages, true);
}

TEST(Laws, NoProvenClaimIsRefutedWhereCallsAreRefused) {
  expect_none_refuted(SimulatedJob::Library::kByPlace, false, SimulatedJob::Refusals::kSome);
  expect_none_refuted(SimulatedJob::Library::kOfMessages, false, SimulatedJob::Refusals::kSome);
}

void expect_healthy_at_every_cut(SimulatedJob::Refusals refusals) {
  for (uint32_t seed = 1; seed <= 800; ++seed) {
    SimulatedJob job(seed, false,
                     seed % 2 ? SimulatedJob::Library::kByPlace : SimulatedJob::Library::kOfMessages,
                     refusals);
    std::mt19937 random(seed);
    for (bool moved = true; moved;) {
      moved = job.advance();
      if (moved && random() % 6) continue;
      const Findings found = diagnose(windowed(job.timeline(), seed % 3 ? UINT64_MAX : 4 + seed % 60));
      ASSERT_TRUE(found.nothing_wrong() || found.cannot_say())
          << "seed " << seed << ": " << to_json(found).dump(1);
    }
  }
}

TEST(Laws, AHealthyRunIsHealthyAtEveryCut) { expect_healthy_at_every_cut(SimulatedJob::Refusals::kNone); }
TEST(Laws, AHealthyRunWithRefusedCallsIsHealthyAtEveryCut) {
  expect_healthy_at_every_cut(SimulatedJob::Refusals::kSome);
}

// A job with the rank numbers turned by `by`, which does the same.
Findings turned(int by) {
  constexpr int kRanks = 4;
  TimelineBuilder job(kRanks, RF_LIB_MPI);
  const auto r = [&](int rank) { return (rank + by) % kRanks; };
  job.everyone(all_reduce(8, 0x10), 3);
  for (const int rank : {0, 1, 3}) job.blocked(r(rank), all_reduce(8, 0x10));
  job.killed(r(2));
  return diagnose(job.build());
}

TEST(Laws, RenamingRanksRenamesTheFinding) {
  for (int by = 0; by < 4; ++by) {
    const Findings found = turned(by);
    ASSERT_EQ(found.all.size(), 1u);
    EXPECT_EQ(found.all[0].ranks, std::vector<int>{(2 + by) % 4});
    EXPECT_EQ(found.all[0].seq->from, 4u);
    EXPECT_EQ(found.all[0].confidence, Confidence::kProven);
  }
}

TEST(Laws, AnIdleCommunicatorChangesNothing) {
  std::string without;
  for (const bool idle : {false, true}) {
    TimelineBuilder job(3);
    if (idle) job.comm("idle", {0, 2});
    job.everyone(all_reduce(), 2).blocked(0, all_reduce()).blocked(1, all_reduce()).killed(2);
    const std::string found = to_json(diagnose(job.build())).dump();
    if (!idle) without = found;
    EXPECT_EQ(found, without);
  }
}

// The timeline that a replay makes from the journal line and the histories.
Timeline after_a_trip(const Timeline& t) {
  Timeline out = *state_from_json(Json::parse(state_to_json(t).dump()));
  for (size_t i = 0; i < out.processes.size(); ++i) {
    out.processes[i].history = t.processes[i].history;
    out.processes[i].source = t.processes[i].source;
    out.processes[i].name_at = t.processes[i].name_at;
  }
  return out;
}

TEST(Laws, TheTripThroughTheJournalChangesNothing) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SimulatedJob job(seed, true);
    while (job.advance()) {
    }
    Timeline t = job.timeline();
    for (ProcessView& p : t.processes) {  // the journal does not hold these
      p.ancestors = {static_cast<int32_t>(seed), 1};
      p.spawned = seed % 2 != 0;
      p.source_lines[seed] = "of no call";
      for (CommView& c : p.comms) c.started = seed;
    }
    EXPECT_EQ(state_to_json(canonical(t)).dump(), state_to_json(after_a_trip(t)).dump());
    EXPECT_EQ(to_json(diagnose(canonical(t))).dump(), to_json(diagnose(after_a_trip(t))).dump());
    for (const Finding& f : diagnose(t).all) {
      const auto back = finding_from_json(to_json(f));
      ASSERT_TRUE(back.ok());
      EXPECT_EQ(to_json(*back).dump(), to_json(f).dump());
    }
  }
}

// Two calls on one line stay two places: the blamed rank does not depend on compilation with -g.
TEST(Laws, SourceLinesChangeOnlyWhatPeopleRead) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SimulatedJob job(seed, true);
    while (job.advance()) {
    }
    const Timeline without = job.timeline();
    Timeline with = without;
    for (ProcessView& p : with.processes)
      for (const auto& [address, place] : p.call_sites) p.source_lines[address] = "all_on_one_line.cc:7";
    const Findings before = diagnose(without), after = diagnose(canonical(with));
    ASSERT_EQ(before.all.size(), after.all.size());
    for (size_t i = 0; i < before.all.size(); ++i) {
      Json a = to_json(before.all[i]), b = to_json(after.all[i]);
      EXPECT_TRUE(b["call_site"] == a["call_site"] || b["call_site"] == "all_on_one_line.cc:7");
      for (const char* shown : {"call_site", "sides"}) {
        a.erase(shown);
        b.erase(shown);
      }
      EXPECT_EQ(a.dump(), b.dump());
    }
  }
}

Findings only(const std::string& kind, int rank, Confidence confidence) {
  Finding f;
  f.kind = kind;
  if (rank >= 0) f.ranks = {rank};
  f.confidence = confidence;
  return {{f}};
}

// Two of three ranks have come, and their calls differ. Then the third comes, and one rank stands alone.
TEST(FindingsLog, SaysItBetterWhenTheOthersHaveCome) {
  TimelineBuilder job(3);
  job.everyone(all_reduce(), 2).blocked(1, barrier()).blocked(2, all_reduce());
  FindingsLog log;
  log.add(diagnose(job.build()), false);
  for (const Finding& f : log.result().all) EXPECT_TRUE(f.ranks.empty()) << f.text;
  job.blocked(0, all_reduce());
  log.add(diagnose(job.build()), true);
  const Findings found = log.result();
  EXPECT_NE(finding_of(found, "call_mismatch"), nullptr);
  for (const Finding& f : found.all) EXPECT_EQ(f.ranks, std::vector<int>{1}) << f.text;
}

// Rank 1 aborts at once, so the tool looks before ranks 0 and 3 have come. At the next look their calls have
// failed, which proves less than an open call.
TEST(FindingsLog, NamesTheOddRankOfAProofWhenTheOthersHaveComeAndFailed) {
  for (const bool others_differ : {false, true}) {
    TimelineBuilder job(4);
    job.everyone(all_reduce(), 2).blocked(1, all_reduce(1)).blocked(2, all_reduce());
    FindingsLog log;
    log.add(diagnose(job.build()), false);
    ASSERT_NE(finding_of(log.result(), "call_mismatch"), nullptr);
    job.killed(1, SIGABRT);
    job.wait(50ms).returns(2, 0, RF_RESULT_THROWN);
    for (int rank : {0, 3}) job.fails(rank, others_differ && rank == 3 ? all_reduce(7) : all_reduce());
    for (int rank : {0, 2, 3}) job.exits(rank, 3);
    log.add(diagnose(job.build()), false);
    const Findings before = log.result();
    ASSERT_NE(finding_of(before, "call_mismatch"), nullptr);
    EXPECT_TRUE(finding_of(before, "call_mismatch")->ranks.empty()) << "one more rank might outvote these";
    log.add(diagnose(job.build()), true);
    const Findings found = log.result();
    const Finding* f = finding_of(found, "call_mismatch");
    ASSERT_NE(f, nullptr);
    EXPECT_EQ(f->confidence, Confidence::kProven);
    EXPECT_EQ(f->claimed.size(), 2u) << "the proof is about the calls of the first look";
    EXPECT_EQ(f->ranks, others_differ ? std::vector<int>{} : std::vector<int>{1}) << f->text;
  }
}

TEST(FindingsLog, KeepsWhatIsProvenAndWithdrawsWhatTheLastLookDoesNotHave) {
  FindingsLog log;
  EXPECT_EQ(log.add(only("slow_rank", 1, Confidence::kInferred), false).size(), 1u);
  EXPECT_TRUE(log.add(only("slow_rank", 1, Confidence::kInferred), false).empty()) << "nothing new";
  EXPECT_EQ(log.add(only("dead_rank", 2, Confidence::kInferred), false).size(), 1u);
  EXPECT_EQ(log.add(only("dead_rank", 2, Confidence::kProven), false).size(), 1u);
  EXPECT_TRUE(log.add(only("dead_rank", 2, Confidence::kInferred), false).empty()) << "it was proven";
  const auto news = log.add(only("none", -1, Confidence::kInferred), true);
  ASSERT_EQ(news.size(), 2u);
  EXPECT_TRUE(news[0].withdrawn);
  ASSERT_EQ(log.result().all.size(), 1u);
  EXPECT_EQ(log.result().all[0].kind, "dead_rank");
}

TEST(FindingsLog, IsReadBackFromItsJournalLines) {
  FindingsLog log;
  JournalLines journal;
  const auto add = [&](const Findings& f, bool last) {
    for (const Finding& one : log.add(f, last))
      push_line(journal, {{"ev", "finding"}, {"finding", to_json(one)}});
  };
  add(only("slow_rank", 1, Confidence::kInferred), false);
  add(only("dead_rank", 2, Confidence::kProven), false);
  add(only("none", -1, Confidence::kInferred), true);
  EXPECT_EQ(to_json(findings_from_journal(journal)).dump(), to_json(log.result()).dump());
  EXPECT_TRUE(findings_from_journal({}).cannot_say());
}

}  // namespace
}  // namespace rankfault::testing
