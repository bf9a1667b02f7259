// fr_job_test: the dumps alone name the culprits of broken 3-D jobs, and name none in a healthy job.
#include "harness/flight_recorder/fr_job.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "harness/diagnose/finding.h"
#include "harness/flight_recorder/fr_words.h"
#include "harness/flight_recorder/write_dump.h"
#include "tests/support/synthetic_dumps.h"
#include "tests/support/tool.h"

namespace rankfault::testing {
namespace {

using Broken = SyntheticJob::Broken;

Timeline timeline_of(const std::vector<FrDump>& dumps, FrHistory history = FrHistory::kAroundTrouble) {
  const test::Scratch scratch;
  for (const FrDump& dump : dumps) {
    const auto written = write_dump(scratch.path(), "_dump_", dump);
    EXPECT_TRUE(written.ok()) << written.error().to_string();
  }
  auto read = read_fr_job({scratch.path()}, {}, history);
  EXPECT_TRUE(read.ok()) << read.error().to_string();
  return std::move(read->timeline);
}

Findings findings_in(const SyntheticJob& job) { return diagnose(timeline_of(synthetic_dumps(job))); }

SyntheticJob broken(Broken how, std::vector<int> culprits) {
  SyntheticJob job;
  job.tensor = 4;
  job.pipeline = 2;
  job.data = 4;
  job.broken = how;
  job.culprits = std::move(culprits);
  return job;
}

void expect_named(const SyntheticJob& job) {
  const Findings found = findings_in(job);
  EXPECT_EQ(found.all.front().ranks, job.culprits) << name_of(job.broken) << ": " << to_json(found).dump(1);
  for (const Finding& f : found.all) EXPECT_NE(f.claim, Claim::kCannotReturn) << f.text;
}

class FrJob : public ::testing::TestWithParam<Broken> {};

TEST_P(FrJob, NamesTheOneCulprit) {
  for (const int culprit : {0, 13, 31}) expect_named(broken(GetParam(), {culprit}));
}

TEST_P(FrJob, NamesTwoCulprits) { expect_named(broken(GetParam(), {9, 14})); }

TEST_P(FrJob, NamesItFromActiveEntriesOnly) {
  SyntheticJob job = broken(GetParam(), {13});
  job.only_active = true;
  expect_named(job);
}

TEST_P(FrJob, NamesItAlthoughOtherDumpsAreLost) {
  SyntheticJob job = broken(GetParam(), {13});
  job.lost_dumps = {2, 27};
  expect_named(job);
}

INSTANTIATE_TEST_SUITE_P(Stuck, FrJob,
                         ::testing::Values(Broken::kHostStuck, Broken::kDeviceStuck, Broken::kTeardown),
                         [](const auto& tested) { return name_of(tested.param); });

TEST(FrJobs, ARankWithoutADumpIsNamedWhenEverybodyElseCame) { expect_named(broken(Broken::kNoDump, {13})); }

// A call that is left out below the recorder is complete on that rank alone. The dumps cannot tell it from
// stuck devices of all the others.
TEST(FrJobs, TheOnlyRankThatCompletedACallMayHaveLeftItOut) {
  for (const bool most : {true, false}) {
    SyntheticJob job = broken(Broken::kDeviceStuck, most ? std::vector{0, 2} : std::vector{1});
    job.tensor = job.pipeline = 1;
    job.data = 3;
    const Findings found = findings_in(job);
    EXPECT_EQ(found.all.front().ranks, job.culprits) << to_json(found).dump(1);
    EXPECT_EQ(found.all.front().text.find("; or rank 1, the only one that completed") != std::string::npos,
              most)
        << found.all.front().text;
  }
}

TEST(FrJobs, ACallOfAnotherSizeIsAMismatch) {
  const Findings found = findings_in(broken(Broken::kOtherSize, {13}));
  const Finding& f = found.all.front();
  EXPECT_EQ(f.kind, "call_mismatch") << to_json(found).dump(1);
  EXPECT_EQ(f.field, "count");
  EXPECT_EQ(f.ranks, std::vector<int>{13});
}

TEST(FrJobs, ASkippedCallIsNamed) {
  const Findings found = findings_in(broken(Broken::kSkipped, {13}));
  EXPECT_EQ(found.all.front().ranks, std::vector<int>{13}) << to_json(found).dump(1);
}

// One more call of all ranks, with its coalesced parts. PyTorch gives the state to the entry that ends them;
// the parts stay "scheduled".
void add_coalesced(FrDump& dump, bool done) {
  const auto all = std::find_if(dump.groups.begin(), dump.groups.end(),
                                [](const FrGroupConfig& g) { return g.desc == "default_pg"; });
  for (const char* word : {"nccl:_broadcast_oop", "nccl:_broadcast_oop", "nccl:ALLGATHER_coalesced"}) {
    FrEntry e = dump.entries.back();
    e.group = {all->name, all->desc};
    e.pg_id = 0;
    e.is_p2p = false;
    e.collective_seq_id = 21;
    e.profiling_name = word;
    e.retired = done;
    e.state = done && e.profiling_name.find("coalesced") != std::string::npos ? FrState::kCompleted
                                                                              : FrState::kScheduled;
    dump.entries.push_back(e);
  }
}

TEST(FrJobs, CoalescedCallsAreAsTheirEndSays) {
  for (const bool done : {true, false}) {
    std::vector<FrDump> dumps = synthetic_dumps(broken(Broken::kNothing, {}));
    for (FrDump& dump : dumps)
      if (done || dump.rank != 5) add_coalesced(dump, done);
    const Findings found = diagnose(timeline_of(dumps));
    if (done)
      EXPECT_TRUE(found.nothing_wrong()) << to_json(found).dump(1);
    else
      EXPECT_EQ(found.all.front().ranks, std::vector<int>{5}) << to_json(found).dump(1);
  }
}

size_t calls_in(const ProcessView& process, rf_phase phase) {
  return static_cast<size_t>(std::count_if(process.history.begin(), process.history.end(),
                                           [&](const Event& e) { return e.record.phase == phase; }));
}

TEST(FrJobs, TheWholeHistoryHasTheCompleteCalls) {
  std::vector<FrDump> dumps = synthetic_dumps(broken(Broken::kNothing, {}));
  for (FrDump& dump : dumps) add_coalesced(dump, true);
  const Timeline whole = timeline_of(dumps, FrHistory::kWhole), around = timeline_of(dumps);
  for (size_t i = 0; i < dumps.size(); ++i) {
    const auto complete =
        static_cast<size_t>(std::count_if(dumps[i].entries.begin(), dumps[i].entries.end(), fr_done));
    // Both coalesced parts are complete, too. The entry that ends their group is not a call.
    EXPECT_EQ(calls_in(whole.processes[i], RF_PHASE_ENTER), dumps[i].entries.size() - 1) << i;
    EXPECT_EQ(calls_in(whole.processes[i], RF_PHASE_EXIT), complete + 1) << i;
    EXPECT_EQ(calls_in(around.processes[i], RF_PHASE_EXIT), 0u) << i;
  }
  EXPECT_TRUE(diagnose(whole).nothing_wrong());
}

TEST(FrJobs, NothingIsWrongWithAHealthyOne) {
  SyntheticJob job = broken(Broken::kNothing, {});
  for (const bool only_active : {false, true}) {
    job.only_active = only_active;
    const Findings found = findings_in(job);
    EXPECT_TRUE(found.nothing_wrong()) << to_json(found).dump(1);
  }
}

// Real dumps, of jobs with a known truth: the text "Fault ranks: [9, 14]" lies next to them.
TEST(FrJobs, NamesTheInjectedRanksOfRealJobs) {
  const char* data = std::getenv("RANKFAULT_FR_DATA");
  if (!data || !*data) GTEST_SKIP() << "RANKFAULT_FR_DATA names no folder of dumps";
  int jobs = 0;
  for (const auto& folder : std::filesystem::directory_iterator(data)) {
    std::ifstream truth(folder.path() / "fault_injection.log");
    std::string line;
    if (!std::getline(truth, line)) continue;
    const auto read = read_fr_job({folder.path().string()});
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    const Findings found = diagnose(read->timeline);
    const Json truth_ranks = Json::parse(line.substr(line.find('[')));
    EXPECT_EQ(Json(found.all.front().ranks), truth_ranks) << folder.path() << to_json(found).dump(1);
    ++jobs;
  }
  EXPECT_GT(jobs, 0);
}

void cut(const std::string& path, size_t bytes) { std::filesystem::resize_file(path, bytes); }

// An existing dump that cannot be read says nothing about its rank: the rank is not blamed for a missing
// record.
TEST(FrJobs, ARankWhoseDumpIsCutIsNotBlamed) {
  SyntheticJob job = broken(Broken::kNoDump, {13});
  const test::Scratch scratch;
  for (FrDump& dump : synthetic_dumps(job)) ASSERT_TRUE(write_dump(scratch.path(), "_dump_", dump).ok());
  FrDump other = synthetic_dumps(job).front();
  other.rank = 13;
  ASSERT_TRUE(write_dump(scratch.path(), "_dump_", other).ok());
  for (const size_t bytes : {1000, 0}) {  // cut short, and empty
    cut(scratch.path() + "/_dump_13", bytes);
    const auto read = read_fr_job({scratch.path()});
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    const Findings found = diagnose(read->timeline);
    EXPECT_TRUE(found.cannot_say()) << to_json(found).dump(1);
    EXPECT_EQ(found.all.front().text, "the record of rank 13 cannot be read");
    EXPECT_TRUE(found.all.front().ranks.empty());
  }
  std::filesystem::remove(scratch.path() + "/_dump_13");  // near miss: it left no dump
  const auto read = read_fr_job({scratch.path()});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(diagnose(read->timeline).all.front().ranks, std::vector<int>{13});
}

TEST(FrJobs, TheCulpritIsNamedBesideADumpThatIsCut) {
  SyntheticJob job = broken(Broken::kHostStuck, {13});
  const test::Scratch scratch;
  for (FrDump& dump : synthetic_dumps(job)) ASSERT_TRUE(write_dump(scratch.path(), "_dump_", dump).ok());
  cut(scratch.path() + "/_dump_2", 1000);
  const auto read = read_fr_job({scratch.path()});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(diagnose(read->timeline).all.front().ranks, std::vector<int>{13});
}

TEST(FrJobs, DumpsOfTwoJobsAreNotOneJob) {
  const test::Scratch scratch;
  SyntheticJob small = broken(Broken::kNothing, {}), large = small;
  small.data = 1;
  for (FrDump& dump : synthetic_dumps(small))
    if (dump.rank < 2) {
      ASSERT_TRUE(write_dump(scratch.path(), "_dump_", dump).ok());
    }
  auto read = read_fr_job({scratch.path()});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->not_one_job, "");
  for (FrDump& dump : synthetic_dumps(large))
    if (dump.rank == 2 || dump.rank == 3) {
      ASSERT_TRUE(write_dump(scratch.path(), "_dump_", dump).ok());
    }
  read = read_fr_job({scratch.path()});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(
      read->not_one_job,
      "the dumps disagree about the world, so they are of several jobs: 8 (ranks 0 1) / 32 (ranks 2 3)");
}

}  // namespace
}  // namespace rankfault::testing
