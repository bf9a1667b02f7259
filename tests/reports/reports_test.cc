// reports_test: the reports for people, JSON and the table of outcomes, against their approved baselines.

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "harness/base/rank_words.h"
#include "reports/log_that_tells.h"
#include "reports/words.h"
#include "tests/reports/runs.h"

namespace rankfault::test {
namespace {

TEST(RankWords, ManyRanksAreRanges) {
  std::vector<int> all_but_43;
  for (int rank = 0; rank < 64; ++rank)
    if (rank != 43) all_but_43.push_back(rank);
  EXPECT_EQ(ranks_text(all_but_43), "ranks 0-42 44-63");
  EXPECT_EQ(ranks_text({0, 1, 3, 4, 5, 7, 9, 10, 12}), "ranks 0 1 3-5 7 9 10 12");
  EXPECT_EQ(ranks_text({0, 1, 2, 4}), "ranks 0 1 2 4");
  EXPECT_EQ(ranks_text({4, 5, 6, 7}), "ranks 4-7");
  EXPECT_EQ(ranks_text({0, 1, 2}), "ranks 0 1 2");
}

TEST_F(Reports, ConsoleTellsTheCulpritFirst) { expect_approved("console.txt", written("console", reports_)); }
TEST_F(Reports, JsonTellsAllOfOneRun) { expect_approved("result.json", written("json", {reports_[0]})); }

// The mask hides the word after an option with a secret name: not a word of ours, and none of the next run.
TEST_F(Reports, AWordAfterASecretNameOfTheJobIsOurs) {
  RunReport broken, after;
  broken.scenario = "broken";
  after.scenario = "after";
  broken.judgement.summary = "error: the following arguments are required: --hf-token";
  after.judgement.summary = "not judged";
  for (const char* format : {"console", "junit", "markdown", "github-summary"}) {
    const std::string both = written(format, {broken, after}), second = written(format, {after});
    EXPECT_EQ(both.find("***"), std::string::npos) << both;
    EXPECT_THAT(both, testing::HasSubstr("not judged")) << second;
  }
}

TEST_F(Reports, OutcomesTellWhoNoticedAndHowItEnded) {
  const std::string table = written("outcomes", {reports_[0]});
  EXPECT_THAT(table, testing::HasSubstr("\n| kill | Gloo | not_linked | dead_rank: rank 2, proven"));
  EXPECT_THAT(table, testing::HasSubstr("peer_lost on rank 1 after 10 ms; timeout on rank 0 after 1 s |"));
  EXPECT_THAT(table, testing::HasSubstr("| ranks 0 1 exited 3, "));
  EXPECT_THAT(table, testing::HasSubstr("rank 2 ended by SIGKILL"));
}

TEST_F(Reports, OutcomesTellThatCudaWasADouble) {
  reports_[0].scenario = "nccl-kill";
  killed_.facts().cuda_double = "2.29.7";
  for (auto& process : killed_.facts().timeline.processes)
    for (Event& event : process.history) event.record.library = RF_LIB_NCCL;
  EXPECT_THAT(written("outcomes", {reports_[0]}), testing::HasSubstr("\n| kill | NCCL, CUDA doubled |"));
}

TEST_F(Reports, OutcomesLeaveOutCanariesAndWhatWasSkipped) {
  EXPECT_EQ(written("outcomes", {reports_[1], reports_[2]}), written("outcomes", {}));
}

TEST_F(Reports, OutcomesPutTheBackEndsOfACaseSideBySide) {
  std::vector<RunReport> runs{reports_[0], reports_[0], reports_[0]};
  runs[0].scenario = "mpi-trainer-stop";
  runs[1].scenario = "ddp-kill";
  const std::string table = written("outcomes", runs);
  EXPECT_EQ(table.find("| stop |"), table.rfind("\n| ") + 1) << table;
}

// The page in the docs has the generator's form: its head, as many cells in each row, and only shipped cases.
TEST_F(Reports, TheOutcomesPageHasTheGeneratorsForm) {
  const char* source = std::getenv("RANKFAULT_SOURCE_DIR");
  if (!source) GTEST_SKIP() << "RANKFAULT_SOURCE_DIR is not set (run under ctest)";
  std::ifstream in(std::string(source) + "/docs/measurements/outcomes.md");
  const std::string page((std::istreambuf_iterator<char>(in)), {}), head = written("outcomes", {});
  const size_t table = page.find(head);
  ASSERT_NE(table, std::string::npos);
  std::istringstream rows(page.substr(table));
  const auto cells = std::count(head.begin(), head.begin() + static_cast<long>(head.find('\n')), '|');
  int count = 0;
  for (std::string row; std::getline(rows, row); ++count)
    EXPECT_EQ(std::count(row.begin(), row.end(), '|'), cells) << row;
  EXPECT_GT(count, 20);
}

TEST_F(Reports, ColourIsForTerminalsOnly) {
  EXPECT_THAT(console_text(reports_, {.colour = true}), testing::HasSubstr("\x1b["));
  EXPECT_THAT(console_text(reports_, {}), testing::Not(testing::HasSubstr("\x1b[")));
}

Finding effect(int rank, const std::string& told) {
  Finding f;  // without op and communicator
  f.kind = "exited_rank";
  f.ranks = {rank};
  f.text = "rank " + std::to_string(rank) + " " + told;
  f.caused_by = 0;
  return f;
}

// The newest attempt, the rank that failed by itself first, and its file.
TEST(LogThatTells, IsOfTheRankThatFailedByItselfInTheNewestAttempt) {
  RunFacts facts;
  facts.run_dir = "/runs/a";
  facts.logs = {"launcher.a0.log", "rank-1.a1.log"};
  const auto ended = [&](int rank, int attempt, int ms, ExitStatus::Kind kind, int value) {
    RankEnd end;
    end.rank = rank;
    end.attempt = attempt;
    end.time = instant_of(1'000'000ull * static_cast<uint64_t>(ms));
    end.status = {kind, value};
    end.last_words = {"Connection refused"};
    facts.ends.push_back(end);
  };
  EXPECT_EQ(log_that_tells(facts, ""), "");
  ended(0, 0, 1, ExitStatus::Kind::kCode, 1);
  EXPECT_THAT(log_that_tells(facts, ""),
              testing::HasSubstr("rank 0, attempt 0, exit 1: /runs/a/logs/launcher.a0.log\n"));
  ended(0, 1, 5, ExitStatus::Kind::kSignal, 15);  // by its launcher
  ended(2, 1, 7, ExitStatus::Kind::kCode, 1);
  ended(1, 1, 6, ExitStatus::Kind::kCode, 3);
  EXPECT_EQ(
      log_that_tells(facts, ""),
      "  log     rank 1, attempt 1, exit 3: /runs/a/logs/rank-1.a1.log\n          Connection refused\n");
  EXPECT_THAT(log_that_tells(facts, "          rank 1 wrote: Connection refused\n"),
              testing::Not(testing::HasSubstr("refused")));
  GateEvent exit_of_1;  // a fault made rank 1 exit: what rank 2 wrote tells more
  exit_of_1.rank = 1;
  exit_of_1.attempt = 1;
  facts.gates = {exit_of_1};
  EXPECT_THAT(log_that_tells(facts, ""), testing::HasSubstr("rank 2, attempt 1, exit 1: "));
}

TEST(FindingsText, EqualEffectsAreOneLine) {
  Finding cause;
  cause.kind = "dead_rank";
  cause.ranks = {2};
  cause.sides = {{{0, 1, 3}, "all_reduce", "all_reduce on world, call 3", ""}};
  cause.text = "rank 2 was ended by SIGKILL";
  const Findings all{
      {cause, effect(3, "exited with 3"), effect(0, "exited with 3"), effect(1, "exited with 4")}};
  const std::string text = findings_text(all);
  EXPECT_THAT(text, testing::HasSubstr(
                        "then   exited_rank: ranks 0 3, inferred\n          ranks 0 3 exited with 3\n"));
  EXPECT_THAT(text,
              testing::HasSubstr("then   exited_rank: rank 1, inferred\n          rank 1 exited with 4\n"));
  EXPECT_THAT(text, testing::HasSubstr("all_reduce on world, call 3"));
}

// The end of a watched job: what was printed before, short, but with the lines of the first cause.
TEST(FindingsText, TheSummaryHasTheSidesOfTheFirstFindingAlone) {
  Finding first, second;
  first.kind = second.kind = "missing_call";
  first.sides = {{{0, 1}, "all_reduce", "all_reduce on world, call 3", "step() at train.py:5"}};
  second.sides = {{{2, 3}, "barrier", "barrier on world, call 9", "end() at train.py:8"}};
  first.evidence = {"rank 1 wrote: bye"};
  const std::string text = findings_summary({{first, second}});
  EXPECT_THAT(text, testing::HasSubstr("ranks 0 1: all_reduce on world, call 3 at step() at train.py:5\n"));
  EXPECT_THAT(text,
              testing::Not(testing::AnyOf(testing::HasSubstr("train.py:8"), testing::HasSubstr("bye"))));
}

}  // namespace
}  // namespace rankfault::test
