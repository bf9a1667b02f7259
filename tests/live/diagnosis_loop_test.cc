// diagnosis_loop_test: when the tool looks at the job, over an observer whose answers the test sets.
#include "harness/live/diagnosis_loop.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/child_on_a_core.h"
#include "tests/support/timeline_builder.h"
#include "tests/support/tool.h"

namespace rankfault::testing {
namespace {

constexpr Instant kStart{1s};

class ToldObserver : public Observer {
 public:
  std::vector<ProcessId> scan() override { return {}; }
  void drain() override {}
  void set_end(const RankEnd&) override {}
  void set_expected(std::vector<ExpectedRank>, int, int) override {}
  uint64_t activity() override { return moves; }
  const ProcessView* process(const ProcessId&) override { return nullptr; }
  Timeline look(bool, uint64_t calls) override {
    ++looks;
    return few && calls != UINT64_MAX ? *few : timeline;
  }

  uint64_t moves = 1;
  int looks = 0;
  Timeline timeline = TimelineBuilder(2).build();
  std::optional<Timeline> few;  // shown by a look at few calls
};

class LooksTest : public ::testing::Test {
 protected:
  test::Scratch scratch_;
  void tick_while_it_moves(DiagnosisLoop& looks, Instant from, Instant to) {
    for (Instant now = from; now < to; now += 5ms) {
      ++observer_.moves;
      looks.tick(now);
    }
  }

  // The newest line of a look.
  Json last_look() const {
    std::istringstream journal(test::read_file(scratch_.file("journal.ndjson")));
    Json last;
    for (std::string text; std::getline(journal, text);)
      if (Json line = Json::parse(text); line["ev"] == "look") last = std::move(line);
    return last;
  }

  Result<Journal> journal_ = Journal::create(scratch_.file("journal.ndjson"));
  ToldObserver observer_;
};

// Findings that depend on a limit (slow, wedged, sends that wait) appear while nothing moves.
TEST_F(LooksTest, AJobThatStandsStillIsLookedAtAgain) {
  DiagnosisLoop looks(observer_, *journal_);
  for (Instant now = kStart; now < kStart + 400ms; now += 5ms) looks.tick(now);
  EXPECT_EQ(observer_.looks, 1);
  for (Instant now = kStart + 400ms; now < kStart + 2400ms; now += 5ms) looks.tick(now);
  EXPECT_GE(observer_.looks, 4);
  EXPECT_LE(observer_.looks, 6);
}

TEST_F(LooksTest, WhoHasNoCoreIsOnRecordWhileNothingMoves) {
  const test::ChildOnACore one(test::be_busy), other(test::be_busy);
  observer_.timeline.processes[0].id.pid = one.pid;
  DiagnosisLoop looks(observer_, *journal_);
  for (Instant now = kStart; now < kStart + 400ms; now += 5ms) looks.tick(now);
  RunDelay delay(one.pid);
  while (delay.waited() < 50ms) delay.look();
  for (Instant now = kStart + 400ms; now < kStart + 1000ms; now += 5ms) looks.tick(now);
  looks.last_look("over");
  const Json line = last_look();
  EXPECT_GE(line["state"]["processes"][0]["starved"].get<Duration>(), 50ms);
  EXPECT_EQ(line["state"]["processes"][1]["starved"].get<Duration>(), 0ns);
}

// Otherwise the next look, with more measured, would withdraw what this look called hung.
TEST_F(LooksTest, WhatIsNotMeasuredYetMayAllHaveBeenWaiting) {
  observer_.timeline.processes[0].id.pid = ::getpid();
  DiagnosisLoop looks(observer_, *journal_);
  looks.tick(kStart);
  looks.tick(kStart + 5ms);
  observer_.timeline.look = HostClock::now() + 3000ms;
  looks.last_look("over");
  const Json line = last_look();
  EXPECT_GE(line["state"]["processes"][0]["starved"].get<Duration>(), 3000ms);
}

TEST_F(LooksTest, WhenTheToolHadNoTurnNorMayTheJob) {
  observer_.timeline.processes[0].id.pid = ::getpid();
  DiagnosisLoop looks(observer_, *journal_);
  for (const Instant now : {kStart, kStart + 5ms, kStart + 2005ms, kStart + 2010ms}) looks.tick(now);
  looks.last_look("over");
  const Json line = last_look();
  EXPECT_GE(line["state"]["processes"][0]["starved"].get<Duration>(), 2000ms);
}

TEST_F(LooksTest, AJobThatMovesIsLookedAtTwiceASecond) {
  DiagnosisLoop looks(observer_, *journal_);
  for (Instant now = kStart; now < kStart + 2000ms; now += 5ms, ++observer_.moves) looks.tick(now);
  EXPECT_GE(observer_.looks, 3);
  EXPECT_LE(observer_.looks, 4);
}

// The others move on to the call that needs the dead rank. The proof exists once they are in that call.
TEST_F(LooksTest, AfterAnEndWithoutAProofTheJobIsLookedAtSoonAndLessOften) {
  TimelineBuilder job(2);
  job.everyone(all_reduce()).killed(1);
  observer_.timeline = job.build();
  DiagnosisLoop looks(observer_, *journal_);
  looks.tick(kStart);
  looks.look("a process ended");
  const int before = observer_.looks;
  tick_while_it_moves(looks, kStart + 5ms, kStart + 100ms);
  EXPECT_EQ(observer_.looks - before, 4);  // 5, 10, 20 and 40 ms after one another
  job.blocked(0, all_reduce());
  observer_.timeline = job.build();
  tick_while_it_moves(looks, kStart + 100ms, kStart + 200ms);
  EXPECT_EQ(observer_.looks - before, 5) << "a look with a proof ends the row";
  EXPECT_NE(test::read_file(scratch_.file("journal.ndjson")).find("\"proven\""), std::string::npos);
}

// The state of many ranks takes milliseconds to write, and a user waits for the finding.
TEST_F(LooksTest, AFindingIsWrittenBeforeTheStateOfItsLook) {
  observer_.timeline = TimelineBuilder(2).everyone(all_reduce()).blocked(0, all_reduce()).killed(1).build();
  DiagnosisLoop looks(observer_, *journal_);
  looks.look("a process ended");
  const std::string journal = test::read_file(scratch_.file("journal.ndjson"));
  EXPECT_LT(journal.find("\"ev\":\"finding\""), journal.find("\"ev\":\"look\""));
  const Json finding = Json::parse(journal.substr(0, journal.find('\n')));
  EXPECT_EQ(finding["look"], last_look()["n"]);
}

TEST_F(LooksTest, SaysWhenOnlyTheStateIsLeftToWrite) {
  observer_.timeline = TimelineBuilder(2).everyone(all_reduce()).blocked(0, all_reduce()).killed(1).build();
  std::string journal;
  bool all_proven = false;
  LookOptions options;
  options.written = [&](bool proven) {
    all_proven = proven;
    journal = test::read_file(scratch_.file("journal.ndjson"));
  };
  DiagnosisLoop looks(observer_, *journal_, options);
  looks.look("a process ended");
  EXPECT_TRUE(all_proven);
  EXPECT_NE(journal.find("\"ev\":\"finding\""), std::string::npos);
  EXPECT_EQ(journal.find("\"ev\":\"look\""), std::string::npos);
}

TEST_F(LooksTest, AnEndThatIsProvenAtOnceNeedsNoOtherLook) {
  observer_.timeline = TimelineBuilder(2).everyone(all_reduce()).blocked(0, all_reduce()).killed(1).build();
  DiagnosisLoop looks(observer_, *journal_);
  looks.tick(kStart);
  looks.look("a process ended");
  const int before = observer_.looks;
  tick_while_it_moves(looks, kStart + 5ms, kStart + 400ms);
  EXPECT_EQ(observer_.looks, before);
}

TEST_F(LooksTest, WithoutAProofTheLooksAfterAnEndCease) {
  observer_.timeline = TimelineBuilder(2).everyone(all_reduce()).killed(1).build();
  DiagnosisLoop looks(observer_, *journal_);
  looks.look("a process ended");
  tick_while_it_moves(looks, kStart, kStart + 700ms);
  const int after_a_second = observer_.looks;
  tick_while_it_moves(looks, kStart + 700ms, kStart + 900ms);
  EXPECT_LE(observer_.looks - after_a_second, 1);
}

// The newest calls show that rank 1 left out a call. All calls together show a healthy job.
TEST_F(LooksTest, WhatFewCallsInferIsNotTold) {
  TimelineBuilder job(2);
  job.everyone(all_reduce()).blocked(0, all_reduce()).exits(1, 1);
  observer_.few = job.build();
  for (ProcessView& p : observer_.few->processes) {
    p.partial = RF_PARTIAL_COMMS;  // so that nothing is proven
    p.lanes.at(0).first = 1;
  }
  DiagnosisLoop looks(observer_, *journal_);
  ASSERT_EQ(diagnose(*observer_.few).all.at(0).kind, "exited_rank");
  for (Instant now = kStart; now < kStart + 2000ms; now += 5ms, ++observer_.moves) looks.tick(now);
  for (Instant now = kStart + 2000ms; now < kStart + 3000ms; now += 5ms) looks.tick(now);
  EXPECT_EQ(test::read_file(scratch_.file("journal.ndjson")).find("exited_rank"), std::string::npos);
  observer_.timeline = *observer_.few;
  EXPECT_TRUE(looks.look("a process ended"));
  EXPECT_NE(test::read_file(scratch_.file("journal.ndjson")).find("exited_rank"), std::string::npos);
}

}  // namespace
}  // namespace rankfault::testing
