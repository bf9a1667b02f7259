// diagnosis_loop_test: when the tool looks at the job, over an observer whose answers the test sets.
#include "harness/live/diagnosis_loop.h"

#include <gtest/gtest.h>

#include "tests/support/child_on_a_core.h"
#include "tests/support/timeline_builder.h"
#include "tests/support/tool.h"

namespace rankfault::testing {
namespace {

constexpr TimeNs kMs = 1'000'000;

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
  void tick_while_it_moves(DiagnosisLoop& looks, TimeNs from, TimeNs to) {
    for (TimeNs now = from; now < to; now += 5 * kMs) {
      ++observer_.moves;
      looks.tick(now);
    }
  }

  Result<Journal> journal_ = Journal::create(scratch_.file("journal.ndjson"));
  ToldObserver observer_;
};

// Findings that depend on a limit (slow, wedged, sends that wait) appear while nothing moves.
TEST_F(LooksTest, AJobThatStandsStillIsLookedAtAgain) {
  DiagnosisLoop looks(observer_, *journal_);
  for (TimeNs now = 1000 * kMs; now < 1400 * kMs; now += 5 * kMs) looks.tick(now);
  EXPECT_EQ(observer_.looks, 1);
  for (TimeNs now = 1400 * kMs; now < 3400 * kMs; now += 5 * kMs) looks.tick(now);
  EXPECT_GE(observer_.looks, 4);
  EXPECT_LE(observer_.looks, 6);
}

TEST_F(LooksTest, WhoHasNoCoreIsOnRecordWhileNothingMoves) {
  const test::ChildOnACore one(test::be_busy), other(test::be_busy);
  observer_.timeline.processes[0].id.pid = one.pid;
  DiagnosisLoop looks(observer_, *journal_);
  for (TimeNs now = 1000 * kMs; now < 1400 * kMs; now += 5 * kMs) looks.tick(now);
  RunDelay delay(one.pid);
  while (delay.waited_ns() < 50 * kMs) delay.look();
  for (TimeNs now = 1400 * kMs; now < 2000 * kMs; now += 5 * kMs) looks.tick(now);
  looks.last_look("over");
  const std::string journal = test::read_file(scratch_.file("journal.ndjson"));
  const Json line = Json::parse(journal.substr(0, journal.find('\n')));
  EXPECT_GE(line["state"]["processes"][0]["starved"].get<TimeNs>(), 50 * kMs);
  EXPECT_EQ(line["state"]["processes"][1]["starved"].get<TimeNs>(), 0u);
}

// Otherwise the next look, with more measured, would withdraw what this look called hung.
TEST_F(LooksTest, WhatIsNotMeasuredYetMayAllHaveBeenWaiting) {
  observer_.timeline.processes[0].id.pid = ::getpid();
  DiagnosisLoop looks(observer_, *journal_);
  looks.tick(1000 * kMs);
  looks.tick(1005 * kMs);
  observer_.timeline.look = now_ns() + 3000 * kMs;
  looks.last_look("over");
  const std::string journal = test::read_file(scratch_.file("journal.ndjson"));
  const Json line = Json::parse(journal.substr(0, journal.find('\n')));
  EXPECT_GE(line["state"]["processes"][0]["starved"].get<TimeNs>(), 3000 * kMs);
}

TEST_F(LooksTest, WhenTheToolHadNoTurnNorMayTheJob) {
  observer_.timeline.processes[0].id.pid = ::getpid();
  DiagnosisLoop looks(observer_, *journal_);
  for (const TimeNs now : {1000 * kMs, 1005 * kMs, 3005 * kMs, 3010 * kMs}) looks.tick(now);
  looks.last_look("over");
  const std::string journal = test::read_file(scratch_.file("journal.ndjson"));
  const Json line = Json::parse(journal.substr(0, journal.find('\n')));
  EXPECT_GE(line["state"]["processes"][0]["starved"].get<TimeNs>(), 2000 * kMs);
}

TEST_F(LooksTest, AJobThatMovesIsLookedAtTwiceASecond) {
  DiagnosisLoop looks(observer_, *journal_);
  for (TimeNs now = 1000 * kMs; now < 3000 * kMs; now += 5 * kMs, ++observer_.moves) looks.tick(now);
  EXPECT_GE(observer_.looks, 3);
  EXPECT_LE(observer_.looks, 4);
}

// The others move on to the call that needs the dead rank. The proof exists once they are in that call.
TEST_F(LooksTest, AfterAnEndWithoutAProofTheJobIsLookedAtSoonAndLessOften) {
  TimelineBuilder job(2);
  job.everyone(all_reduce()).killed(1);
  observer_.timeline = job.build();
  DiagnosisLoop looks(observer_, *journal_);
  looks.tick(1000 * kMs);
  looks.look("a process ended");
  const int before = observer_.looks;
  tick_while_it_moves(looks, 1005 * kMs, 1100 * kMs);
  EXPECT_EQ(observer_.looks - before, 4);  // 5, 10, 20 and 40 ms after one another
  job.blocked(0, all_reduce());
  observer_.timeline = job.build();
  tick_while_it_moves(looks, 1100 * kMs, 1200 * kMs);
  EXPECT_EQ(observer_.looks - before, 5) << "a look with a proof ends the row";
  EXPECT_NE(test::read_file(scratch_.file("journal.ndjson")).find("\"proven\""), std::string::npos);
}

TEST_F(LooksTest, AnEndThatIsProvenAtOnceNeedsNoOtherLook) {
  observer_.timeline = TimelineBuilder(2).everyone(all_reduce()).blocked(0, all_reduce()).killed(1).build();
  DiagnosisLoop looks(observer_, *journal_);
  looks.tick(1000 * kMs);
  looks.look("a process ended");
  const int before = observer_.looks;
  tick_while_it_moves(looks, 1005 * kMs, 1400 * kMs);
  EXPECT_EQ(observer_.looks, before);
}

TEST_F(LooksTest, WithoutAProofTheLooksAfterAnEndCease) {
  observer_.timeline = TimelineBuilder(2).everyone(all_reduce()).killed(1).build();
  DiagnosisLoop looks(observer_, *journal_);
  looks.look("a process ended");
  tick_while_it_moves(looks, 1000 * kMs, 1700 * kMs);
  const int after_a_second = observer_.looks;
  tick_while_it_moves(looks, 1700 * kMs, 1900 * kMs);
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
  for (TimeNs now = 1000 * kMs; now < 3000 * kMs; now += 5 * kMs, ++observer_.moves) looks.tick(now);
  for (TimeNs now = 3000 * kMs; now < 4000 * kMs; now += 5 * kMs) looks.tick(now);
  EXPECT_EQ(test::read_file(scratch_.file("journal.ndjson")).find("exited_rank"), std::string::npos);
  observer_.timeline = *observer_.few;
  EXPECT_TRUE(looks.look("a process ended"));
  EXPECT_NE(test::read_file(scratch_.file("journal.ndjson")).find("exited_rank"), std::string::npos);
}

}  // namespace
}  // namespace rankfault::testing
