// first_cause_test: which finding comes first, and which findings it caused.
#include <csignal>

#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

using ::testing::HasSubstr;

// Rank 2 of an mpirun job fails; the launcher ends the others.
Timeline launched(TimelineBuilder& job, bool ends_all = true) {
  Timeline t = job.build();
  t.launcher_ends_all = ends_all;
  return t;
}

TEST(EndedByLauncher, AVictimIsNeverProvenGuilty) {
  for (const bool ends_all : {true, false}) {
    TimelineBuilder job(3, RF_LIB_MPI);
    job.everyone(all_reduce(), 2).blocked(2, all_reduce()).wait(1ms).exits(2, 1).wait(2ms);
    job.blocked(0, all_reduce()).wait(50ms).killed(1, 15).wait(50ms).killed(0, 15);
    const Findings found = diagnose(launched(job, ends_all));
    ASSERT_EQ(found.all.front().kind, "exited_rank") << all_kinds(found);
    EXPECT_EQ(found.all.front().ranks, std::vector<int>{2});
    ASSERT_EQ(found.all.size(), 3u) << all_kinds(found);
    for (size_t i = 1; i < found.all.size(); ++i) {
      const Finding& f = found.all[i];
      EXPECT_EQ(f.caused_by, 0);
      if (!ends_all) continue;
      EXPECT_EQ(f.confidence, Confidence::kInferred) << f.text;
      EXPECT_THAT(f.text, HasSubstr("was ended by SIGTERM from the launcher, after rank 2 exited with 1"));
    }
  }
}

// Rank 0 aborts. The launcher then ends the others, and rank 0 ends last. A rank that the launcher killed is
// not the cause.
TEST(EndedByLauncher, ARankThatAbortsIsFirstFromItsAbortOn) {
  TimelineBuilder job(4, RF_LIB_MPI);
  CallSpec abort = all_reduce();
  abort.op = RF_OP_COMM_ABORT;
  job.everyone(all_reduce(), 2).blocked(3, all_reduce()).blocked(0, abort).wait(1ms);
  job.killed(1, 15).wait(20ms).killed(2, 15).wait(20ms);
  for (const bool by_signal : {false, true}) {
    TimelineBuilder ended = job;
    if (by_signal)
      ended.killed(0, 9);
    else
      ended.exits(0, 1);
    const Findings found = diagnose(launched(ended));
    int told = 0;
    for (const Finding& f : found.all) {
      if (f.kind != "dead_rank" || f.ranks == std::vector<int>{0}) continue;
      ++told;
      EXPECT_THAT(f.text, HasSubstr("from the launcher, after rank 0")) << f.text;
    }
    EXPECT_EQ(told, 2) << all_kinds(found);
    EXPECT_EQ(found.all.front().ranks, std::vector<int>{0}) << all_kinds(found);
    EXPECT_EQ(found.all.front().kind, by_signal ? "dead_rank" : "exited_rank");
  }
}

TEST(EndedByLauncher, ARankThatAbortsIsTheCauseAlsoWhileItStillRuns) {
  TimelineBuilder job(2, RF_LIB_MPI);
  CallSpec abort = all_reduce();
  abort.op = RF_OP_COMM_ABORT;
  job.everyone(all_reduce(), 2).blocked(0, abort).wait(1ms).killed(1, 15);
  const Findings found = diagnose(launched(job));
  EXPECT_EQ(found.all.front().text,
            "rank 1 was ended by SIGTERM from the launcher, after rank 0 called MPI_Abort");
}

// MPICH's launcher kills the rank that called MPI_Abort.
TEST(EndedByLauncher, ARankThatAbortedIsNotProvenKilled) {
  TimelineBuilder job(2, RF_LIB_MPI);
  CallSpec abort = all_reduce();
  abort.op = RF_OP_COMM_ABORT;
  job.everyone(all_reduce(), 2).blocked(1, all_reduce()).blocked(0, abort).wait(1ms).killed(0, 9);
  for (const bool ends_all : {false, true}) {
    const Findings found = diagnose(launched(job, ends_all));
    EXPECT_EQ(found.all.front().confidence, Confidence::kInferred);
    EXPECT_EQ(found.all.front().text, "rank 0 called MPI_Abort and was ended by SIGKILL");
  }
}

TEST(EndedByLauncher, TheFirstToBeKilledIsNoVictim) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.everyone(all_reduce(), 2);
  for (const int r : {0, 2}) job.blocked(r, all_reduce());
  job.wait(1ms).killed(1, 9).wait(50ms).killed(0, 15).killed(2, 15);
  const Findings found = diagnose(launched(job));
  EXPECT_EQ(found.all.front().ranks, std::vector<int>{1});
  EXPECT_EQ(found.all.front().confidence, Confidence::kProven);
}

TEST(ExitedRank, HasTheLastWordsOfItsProcess) {
  TimelineBuilder job(3);
  job.everyone(all_reduce(), 2);
  for (const int r : {0, 2}) job.blocked(r, all_reduce());
  job.exits(1, 1);
  job.rank(1).end.last_words = {"ValueError: loss is nan"};
  const Findings found = diagnose(job.build());
  EXPECT_EQ(found.all.front().kind, "exited_rank");
  EXPECT_THAT(found.all.front().evidence, ::testing::Contains("rank 1 wrote: ValueError: loss is nan"));
}

TEST(ExitedRank, OfAPythonProgramHasItsLastExceptionAndTheLine) {
  const auto text_of_exit = [](int status) {
    TimelineBuilder job(3);
    job.everyone(all_reduce(), 2);
    for (const int r : {0, 2}) job.blocked(r, all_reduce());
    job.exits(1, status);
    job.rank(1).end.last_words = {"ValueError: no label", "raised in read_batch() at train.py:7"};
    return diagnose(job.build()).all.front().text;
  };
  EXPECT_THAT(text_of_exit(1),
              ::testing::AllOf(::testing::StartsWith("rank 1 exited with 1 and never entered"),
                               ::testing::EndsWith("; its last exception is ValueError: no label, raised "
                                                   "in read_batch() at train.py:7")));
  EXPECT_THAT(text_of_exit(3), ::testing::Not(::testing::HasSubstr("exception")))
      << "the status is the program's own";
}

// Ray ends its workers with status 1 when they are done.
TEST(ExitedRank, OfARankThatWasDoneDependsOnTheStatusOfTheJob) {
  TimelineBuilder job(2);
  job.everyone(all_reduce(), 2).destroys(0).destroys(1).exits(0, 1).exits(1, 1);
  const auto kinds = [&](JobStatus end) {
    Timeline t = job.build();
    t.job_status = end;
    return all_kinds(diagnose(t));
  };
  EXPECT_EQ(kinds(JobStatus::kRunning), "none");
  EXPECT_EQ(kinds(JobStatus::kAllZero), "none");
  EXPECT_EQ(kinds(JobStatus::kNotAllZero), "exited_rank exited_rank");
  job.rank(1).end.last_words = {"ValueError: no label", "raised in read_batch() at train.py:7"};
  EXPECT_EQ(kinds(JobStatus::kAllZero), "exited_rank") << "an exception is an exit";
}

TEST(ExitedRank, OfARankThatWasDoneIsTheCauseWhenTheLauncherEndsTheOthers) {
  TimelineBuilder job(2);
  job.everyone(all_reduce(), 2).destroys(1).exits(1, 3).wait(20ms).killed(0, SIGTERM);
  EXPECT_EQ(diagnose(launched(job)).all.front().kind, "exited_rank");
}

TEST(ExitedRank, WithAnOpenCommunicatorIsReportedWhateverTheStatusOfTheJob) {
  TimelineBuilder job(2);
  job.everyone(all_reduce(), 2).destroys(0).exits(0, 0).exits(1, 1);
  Timeline t = job.build();
  t.job_status = JobStatus::kAllZero;
  EXPECT_EQ(all_kinds(diagnose(t)), "exited_rank");
}

TEST(ExitedRank, HasItsExceptionOnce) {
  TimelineBuilder job(3);
  job.everyone(all_reduce(), 2);
  for (const int r : {0, 2}) job.blocked(r, all_reduce());
  job.exits(1, 1);
  job.rank(1).end.last_words = {"ValueError: no label", "raised in read_batch() at train.py:7", "bye"};
  const Finding first = diagnose(job.build()).all.front();
  EXPECT_THAT(first.evidence, ::testing::Contains("rank 1 wrote: bye"));
  EXPECT_THAT(first.evidence, ::testing::Not(::testing::Contains(::testing::HasSubstr("no label"))))
      << "the text has it";
}

TEST(DeadRank, HasTheLineOfPythonsFaulthandler) {
  TimelineBuilder job(3);
  job.everyone(all_reduce(), 2);
  for (const int r : {0, 2}) job.blocked(r, all_reduce());
  job.killed(1, SIGSEGV);
  job.rank(1).end.last_words = {"Fatal Python error: Segmentation fault", "raised in step() at train.py:9"};
  EXPECT_THAT(diagnose(job.build()).all.front().text,
              ::testing::EndsWith("; its last Python line is step() at train.py:9"));
  // An exception that the program handled before the signal is not the reason for the end.
  job.rank(1).end.last_words.front() = "KeyError: 'x'";
  EXPECT_THAT(diagnose(job.build()).all.front().text, ::testing::Not(::testing::HasSubstr("train.py")));
}

TEST(DeadRank, TellsTheOutOfMemoryKillerFromAnotherSigkill) {
  TimelineBuilder job(3);
  job.everyone(all_reduce(), 2);
  for (const int r : {0, 2}) job.blocked(r, all_reduce());
  job.killed(1, SIGKILL);
  EXPECT_THAT(diagnose(job.build()).all.front().text,
              ::testing::StartsWith("rank 1 was ended by SIGKILL and"));
  job.rank(1).end.oom_kill_in = "memory group /job";
  const Finding first = diagnose(job.build()).all.front();
  EXPECT_THAT(first.text,
              ::testing::StartsWith("rank 1 was ended by SIGKILL (probably out of memory) and never"));
  EXPECT_THAT(
      first.evidence,
      ::testing::Contains("the kernel counted a process killed for lack of memory in memory group /job "
                          "while rank 1 ran; that it was rank 1 is inferred"));
}

// The call of rank 1 fails. It informs the others, which exit first.
TEST(ExitedRank, TheOneWhoseCallFailedComesBeforeThoseThatLeftFirst) {
  TimelineBuilder job(3);
  job.everyone(all_reduce(), 2);
  job.fails(1, all_reduce(), 5).wait(1ms);
  for (const int r : {0, 2}) job.exits(r, 3);
  job.wait(5ms).exits(1, 3);
  const Findings found = diagnose(job.build());
  EXPECT_EQ(found.all.front().kind, "exited_rank");
  EXPECT_EQ(found.all.front().ranks, std::vector<int>{1}) << found.all.front().text;
  ASSERT_EQ(found.all.size(), 3u) << all_kinds(found);
  for (size_t i = 1; i < found.all.size(); ++i) EXPECT_EQ(found.all[i].caused_by, 0);
}

// Ranks 0 and 2 failed for lack of rank 1's call, right before its end was seen. A failure seconds before
// that end has another reason, and rank 1 did not begin to leave at that time.
TEST(ExitedRank, BeganToLeaveAtMostAMomentBeforeItsEnd) {
  for (const Duration before : {20ms, 2000ms}) {
    TimelineBuilder job(3);
    job.everyone(all_reduce(), 2);
    for (const int r : {0, 2}) job.blocked(r, all_reduce());
    for (const int r : {0, 2}) job.returns(r, 0, RF_RESULT_THROWN);
    const Instant failed = job.now();
    job.wait(before).exits(1, 3);
    for (const int r : {0, 2}) job.exits(r, 3);
    const Findings found = diagnose(job.build());
    for (const Finding& f : found.all)
      if (f.ranks == std::vector<int>{1} && f.kind == "exited_rank") {
        EXPECT_EQ(f.at < failed, before < 50ms) << f.text;
      }
    ASSERT_NE(finding_of(found, "exited_rank"), nullptr) << all_kinds(found);
  }
}

// A peer's death makes calls fail before rankfault sees the death.
TEST(ExitedRank, AFailureRightBeforeADeathIsNotItsCause) {
  TimelineBuilder job(3);
  job.everyone(all_reduce(), 2);
  job.fails(1, all_reduce(), 5).wait(1ms).killed(0, 9).wait(5ms);
  for (const int r : {1, 2}) job.exits(r, 3);
  EXPECT_EQ(diagnose(job.build()).all.front().kind, "dead_rank");
}

// The usual reaction to a dead peer: the call fails, the rank aborts, and only then is the death seen.
TEST(ExitedRank, AnAbortRightAfterAFailureIsNotTheCauseOfADeath) {
  CallSpec abort = all_reduce();
  abort.op = RF_OP_COMM_ABORT;
  for (const bool ends_all : {false, true}) {
    TimelineBuilder job(3, RF_LIB_MPI);
    job.everyone(all_reduce(), 2).blocked(2, all_reduce());
    job.fails(1, all_reduce(), 5).blocked(1, abort).wait(1ms).killed(0, 9).wait(5ms).exits(1, 5);
    const Findings found = diagnose(launched(job, ends_all));
    const Finding& first = found.all.front();
    EXPECT_EQ(first.kind, "dead_rank") << all_kinds(found);
    EXPECT_EQ(first.ranks, std::vector<int>{0});
    EXPECT_THAT(first.text, ::testing::Not(HasSubstr("its launcher"))) << first.text;
    EXPECT_TRUE(!ends_all || first.confidence == Confidence::kInferred) << first.text;
  }
}

Finding of(const std::string& kind, std::vector<int> ranks, uint64_t at) {
  Finding f;
  f.kind = kind;
  f.ranks = std::move(ranks);
  f.at = instant_of(at);
  return f;
}

// The others began to wait for the rank before it met the full disk.
TEST(HostResource, IsTheCauseOfWhatItsRankDidNext) {
  std::vector<Finding> all = {of("call_mismatch", {1}, 10), of("host_resource", {1}, 12),
                              of("exited_rank", {1}, 20)};
  order_by_cause(all);
  EXPECT_EQ(all[0].kind, "host_resource");
  EXPECT_EQ(all[1].caused_by, 0);
  EXPECT_EQ(all[2].caused_by, 0);
}

// Rank 1 left out a call, made others, and met a full disk much later.
TEST(HostResource, IsNotTheCauseOfWhatItsRankDidBeforeItsLastCall) {
  Finding disk = of("host_resource", {1}, 120);
  for (const uint64_t since : {5, 100}) {
    disk.since = instant_of(since);
    std::vector<Finding> all = {of("missing_call", {1}, 10), disk};
    order_by_cause(all);
    EXPECT_EQ(all[0].kind, since == 5 ? "host_resource" : "missing_call");
    const Result<Finding> read = finding_from_json(to_json(disk));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->since, disk.since);
  }
}

// It is proven that the others gave up before.
TEST(HostResource, IsNotTheCauseOfAProvenLateness) {
  Finding late = of("late_rank", {1}, 10);
  late.confidence = Confidence::kProven;
  std::vector<Finding> all = {late, of("host_resource", {1}, 12)};
  order_by_cause(all);
  EXPECT_EQ(all[0].kind, "late_rank");
}

TEST(HostResource, IsNotTheCauseOfWhatOthersDidBefore) {
  std::vector<Finding> all = {of("call_mismatch", {2}, 10), of("host_resource", {1}, 12)};
  order_by_cause(all);
  EXPECT_EQ(all[0].kind, "call_mismatch");
}

TEST(FindingsLog, SaysWhyItWithdraws) {
  FindingsLog log;
  log.add({{of("slow_rank", {1}, 10)}}, false);
  const std::vector<Finding> news = log.add({{of("exited_rank", {1}, 20)}}, true);
  ASSERT_EQ(news.size(), 2u);
  EXPECT_TRUE(news[1].withdrawn);
  EXPECT_THAT(news[1].withdrawn_because, HasSubstr("the record now shows exited_rank"));
}

// A process that fails frees its communicators before it ends. A look in between infers that it left out the
// call that others wait for; once it has ended, its exit is the cause, also while the others still hang.
TEST(FindingsLog, AnExitReplacesAtOnceWhatWasInferredOfItsRank) {
  FindingsLog log;
  log.add({{of("missing_call", {1}, 10)}}, false);
  const std::vector<Finding> news = log.add({{of("exited_rank", {1}, 20)}}, false);
  ASSERT_EQ(news.size(), 2u);
  EXPECT_TRUE(news[1].withdrawn);
  EXPECT_EQ(news[1].kind, "missing_call");
  EXPECT_THAT(news[1].withdrawn_because, HasSubstr("the record now shows exited_rank"));
  ASSERT_EQ(log.result().all.size(), 1u);
  EXPECT_EQ(log.result().all[0].kind, "exited_rank");
}

// A look at the newest calls alone leaves out what it infers: what it lacks is not refuted.
TEST(FindingsLog, ALookWithoutInferredFindingsWithdrawsNone) {
  FindingsLog log;
  log.add({{of("stuck_outside", {1}, 10)}}, false);
  Findings quick{{of("exited_rank", {1}, 20)}};
  quick.proven_only = true;
  EXPECT_EQ(log.add(quick, false).size(), 1u);
  EXPECT_EQ(log.result().all.size(), 2u);
}

TEST(FindingsLog, AnExitLeavesWhatItDoesNotExplain) {
  FindingsLog log;
  Finding proven = of("missing_call", {1}, 10);
  proven.confidence = Confidence::kProven;
  log.add({{proven, of("slow_rank", {2}, 10), of("call_mismatch", {1}, 12)}}, false);
  // The look still has the call_mismatch; rank 2 has not ended.
  EXPECT_EQ(log.add({{of("exited_rank", {1}, 20), of("call_mismatch", {1}, 12)}}, false).size(), 1u);
  EXPECT_EQ(log.result().all.size(), 4u);
}

}  // namespace
}  // namespace rankfault::testing
